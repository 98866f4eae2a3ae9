"""Clusters of CTAs: their barrier. PTX ISA, "barrier.cluster"."""

from __future__ import annotations

import numpy as np

from .alu import Array
from .phases import Phases
from .wave import Wave


class Clusters:
    """The cluster barriers of a wave.

    Attributes:
        arrivals: how often each thread has arrived, (CTAs, warps, lanes).
        passed: the most phases that a thread of each CTA knows to be complete, (CTAs,).
        fenced: warps that have published what they did since they last arrived, (CTAs, warps).
    """

    def __init__(self, wave: Wave, phases: Phases) -> None:
        self.wave = wave
        self.phases = phases

    def begin(self) -> None:
        """Begin a wave."""
        ctas, warps, lanes = self.wave.shape
        self._phase = np.zeros(ctas, np.int64)  # of the CTA's cluster
        self.arrivals = np.zeros((ctas, warps, lanes), np.int64)
        self.passed = np.zeros(ctas, np.int64)
        self.fenced = np.zeros((ctas, warps), np.bool_)

    def arrive(self, threads: Array) -> None:
        """Threads arrive."""
        self.arrivals = self.arrivals + threads
        self.complete()

    def complete(self) -> None:
        """End the phase of clusters whose threads have all arrived or exited."""
        live = self.wave.live
        late = self.arrivals <= self._phase[:, None, None]
        if live is not None:
            late &= live
        size = self.wave.geometry.cluster_ctas
        absent = late.any(axis=(1, 2)).reshape(-1, size).any(axis=1).repeat(size)
        come = (self.arrivals > self._phase[:, None, None]).any(axis=(1, 2))
        come = come.reshape(-1, size).any(axis=1).repeat(size)
        done = come & ~absent
        if done.any():
            self._phase = self._phase + done
            self.phases.events += 1

    def ready(self, threads: Array) -> Array:
        """Of threads that wait, those whose phase is complete."""
        return np.asarray(threads & (self.arrivals <= self._phase[:, None, None]))

    def wait(self, threads: Array) -> None:
        """Threads go on from their wait."""
        phases = np.where(threads, self.arrivals, 0).max(axis=(1, 2))
        self.passed = np.maximum(self.passed, phases)
