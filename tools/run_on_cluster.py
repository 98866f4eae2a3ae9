"""The CTAs of a launch, simulated by the workers of a Dask cluster: `tile-run --scheduler`.

A worker runs some of the launch's waves, and tells which bytes of global memory these read and
wrote. Where no part touches what another wrote, the parts are put together (`tilec.sim.parts`), and
give what one process gives; else this process runs the launch, and a remark says why.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np
from tilec.isa import TilecError
from tilec.sim.arguments import Image
from tilec.sim.parts import Assembly, Part, part_of, split, why_whole
from tilec.sim.ptx import read_text
from tilec.sim.report import Report
from tilec.sim.run import Run
from tilec.tuning.connection import Connection, Tls
from tilec.tuning.cores import cores
from tilec.tuning.elsewhere import compare_versions
from tilec.tuning.jobs import SILENCE, Done, Jobs, LostError
from tilec.tuning.store.keys import code_of, versions

from .colours import say

_PARTS = 4
"""Parts for each thread of the workers, so that all end at about the same time."""
_KEPT = 4
"""Launches that a worker keeps."""


@dataclass(frozen=True)
class Cluster:
    """Who simulates.

    Attributes:
        address: of a scheduler; empty for a cluster of this machine's own.
        tls: certificates; None without, or for those of Dask's configuration.
    """

    address: str
    tls: Tls | None = None

    @classmethod
    def named(cls, given: str, tls: Tls | None) -> Cluster:
        """What `--scheduler` names: an address, or `local`."""
        return cls("" if given == "local" else given, tls)


@dataclass(frozen=True)
class Launch:
    """What a worker is sent of a launch.

    Attributes:
        ptx: the text.
        name: how errors call it.
        kernel: the kernel's name.
        grid, block: CTAs, and threads of each.
        image: the arguments.
        settings: the other arguments of `Run`.
    """

    ptx: str
    name: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    image: Image
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Missing:
    """A worker's answer where it has not been sent the launch."""


@dataclass(frozen=True)
class Failed:
    """A worker's answer where the launch cannot go on, which here ends in the same error."""

    why: str


_launches: dict[str, Launch] = {}


def simulator_versions() -> dict[str, str]:
    """The versions that results of the simulator are known by, of this process."""
    return {**versions(), "simulator": code_of("sim"), "numpy": np.__version__}


def run_part(
    digest: str, sent: bytes | None, first: int, stop: int, wanted: Mapping[str, str]
) -> Part | Missing | Failed:
    """Run some waves of a launch: what a worker does.

    Args:
        digest: of the launch.
        sent: the launch, pickled; None if the worker may have it.
        first: the first of its waves.
        stop: after the last.
        wanted: versions that the client has.

    Raises:
        TuningError: for other versions.
    """
    compare_versions(simulator_versions(), wanted)
    if sent is not None:
        while len(_launches) >= _KEPT:
            _launches.pop(next(iter(_launches)), None)
        _launches[digest] = pickle.loads(sent)
    launch = _launches.get(digest)
    if launch is None:
        return Missing()
    try:
        module = read_text(launch.ptx, launch.name)
        run = Run(module, launch.kernel, launch.grid, launch.block, launch.image, **launch.settings)
        return part_of(run, range(first, stop))
    except TilecError as error:
        return Failed(str(error))


class _Parts:
    """The parts of a launch, under way.

    Args:
        jobs: calls on workers.
        launch: the launch.
        run: the same here.
        progress: told how many CTAs have ended, and how many there are.
    """

    def __init__(
        self, jobs: Jobs, launch: Launch, run: Run, progress: Callable[[int, int], None]
    ) -> None:
        self._jobs, self._run, self._progress = jobs, run, progress
        self._assembly = Assembly(run)
        self._sent = pickle.dumps(launch, pickle.HIGHEST_PROTOCOL)
        self._digest = blake2b(self._sent, digest_size=16).hexdigest()
        self._versions = simulator_versions()
        self._ended = 0
        self._waves: dict[str, range] = {}

    def run(self) -> str:
        """Run all.

        Returns:
            Why they cannot be put together; empty if they can, and `report` does.

        Raises:
            TilecError: for workers with other versions, and parts that are lost with their workers.
        """
        threads = max(self._jobs.threads, 1)
        for waves in split(self._run.waves, _PARTS * threads):
            ctas = self._run.ctas(waves)
            name = f"CTAs {ctas.start} to {ctas.stop - 1}"
            self._waves[name] = waves
            self._submit(name, None)
        while len(self._jobs):
            for done in self._jobs.wait():
                why = self._take(done)
                if why:
                    self._jobs.cancel()
                    return why
        return self._assembly.why_not()

    def _submit(self, name: str, sent: bytes | None) -> None:
        waves = self._waves[name]
        given = self._digest, sent, waves.start, waves.stop, self._versions
        self._jobs.submit(name, run_part, *given)

    def _take(self, done: Done) -> str:
        """What a worker answers; why its part and others cannot be put together."""
        if done.error is not None:
            lost = "its workers are lost with it, " if isinstance(done.error, LostError) else ""
            if isinstance(done.error, ImportError):
                lost = "a worker has no tilec: "
            raise TilecError(f"{done.name}: {lost}{done.error}")
        found: Part | Missing | Failed = done.value
        if isinstance(found, Missing):
            self._submit(done.name, self._sent)
            return ""
        if isinstance(found, Failed):
            return found.why
        why = self._assembly.add(found)
        self._ended += len(self._run.ctas(found.waves))
        self._progress(self._ended, self._run.machine.geometry.ctas)
        return why

    def report(self) -> Report:
        """What all did."""
        return self._assembly.report()


def simulate(
    run: Run, cluster: Cluster, launch: Launch, progress: Callable[[int, int], None]
) -> Report:
    """Run a launch on a cluster, or here where its CTAs depend on each other.

    Args:
        run: the launch, of which nothing has been run.
        cluster: who simulates.
        launch: the same for workers.
        progress: told how many CTAs have ended, and how many there are.

    Raises:
        TuningError: for a cluster that cannot be reached.
        TilecError: for workers with other versions, and parts that are lost with their workers.
    """
    kernel = run.placement.kernel.name
    why = why_whole(run)
    if not why:
        connection = Connection(cluster.address, cores(), cluster.tls, SILENCE)
        try:
            say(f"dashboard: {connection.dashboard}\n")
            jobs = Jobs(connection)
            jobs.wait_for_workers()
            parts = _Parts(jobs, launch, run, progress)
            why = parts.run()
            for how, count in jobs.lost.items():
                say(f"remark: {count} of the workers {how}; what they were at ran elsewhere\n")
            if not why:
                return parts.report()
        finally:
            connection.close()
    say(f"remark: kernel '{kernel}' is run in this process: {why}\n")
    run.simulate(range(run.waves), progress)
    run.copy_back()
    return run.report()
