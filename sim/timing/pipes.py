"""Parts of an SM that do one thing after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tilec.isa.rates import SHARED_BYTES

from .costs import PARTS

PIPES = ("float32", "float64", "integer", "special", "tensor")
"""Units that each part of an SM has of its own."""
TITLES = {
    "issue": "issue slots", "float32": "f32 units", "float64": "f64 units",
    "integer": "integer units", "special": "special functions", "tensor": "tensor pipe",
    "shared": "shared", "l1": "L1", "l2": "L2", "dram": "DRAM",
}  # fmt: skip
"""What the parts of an SM are called."""
_L1_BYTES = 128
"""Bytes that the L1 cache gives or takes in a cycle."""


@dataclass(slots=True)
class Pipe:
    """Something that is busy with one thing at a time.

    Attributes:
        free: when it can begin with the next.
        busy: cycles that it has been busy.
        spans: when, from and to, in order; what follows at once is one span.
    """

    free: float = 0.0
    busy: float = 0.0
    spans: list[list[float]] = field(default_factory=list)

    def take(self, at: float, cycles: float) -> float:
        """Be busy as soon as it can be; when it begins."""
        start = max(at, self.free)
        if cycles > 0:
            if self.spans and start <= self.spans[-1][1]:
                self.spans[-1][1] = start + cycles
            else:
                self.spans.append([start, start + cycles])
            self.free = start + cycles
            self.busy += cycles
        return start


class Part:
    """A part of an SM: its issue slot and its units."""

    def __init__(self) -> None:
        self.issue = Pipe()
        self.units = {name: Pipe() for name in PIPES}


class Sm:
    """An SM, and its share of the memory beyond.

    Args:
        l2_bytes: bytes that it takes from L2 in a cycle.
        dram_bytes: its share of those from DRAM in a cycle.
        missed: the share of the bytes from L2 that come from DRAM.
        latencies: of L1, L2 and DRAM.
    """

    def __init__(
        self, l2_bytes: float, dram_bytes: float, missed: float, latencies: tuple[int, int, int]
    ) -> None:
        self.parts = [Part() for _ in range(PARTS)]
        self.shared, self.l1, self.l2, self.dram = Pipe(), Pipe(), Pipe(), Pipe()
        self._l2_bytes, self._dram_bytes, self._missed = l2_bytes, dram_bytes, missed
        self.l1_latency = latencies[0]
        # The mean of what comes from L2 and from DRAM.
        self._far = latencies[1] + missed * (latencies[2] - latencies[1])

    def pass_shared(self, at: float, passes: float) -> float:
        """Pass over shared memory; when the last pass ends."""
        return self.shared.take(at, passes) + passes

    def copied(self, at: float, bytes_: float) -> float:
        """Bytes enter or leave shared memory at once; when the last has."""
        return self.pass_shared(at, bytes_ / SHARED_BYTES)

    def through_l1(self, at: float, bytes_: float) -> float:
        """Bytes go through L1; when the last has."""
        cycles = max(bytes_ / _L1_BYTES, 1.0)
        return self.l1.take(at, cycles) + cycles

    def fetch(self, at: float, bytes_: float) -> float:
        """Ask L2 for bytes; when the last is there."""
        return self._move(at, bytes_) + self._far

    def store(self, at: float, bytes_: float) -> float:
        """Send bytes to L2; when the last has left."""
        return self._move(at, bytes_)

    def _move(self, at: float, bytes_: float) -> float:
        cycles = bytes_ / self._l2_bytes
        done = self.l2.take(at, cycles) + cycles
        missed = bytes_ * self._missed / self._dram_bytes
        return max(done, self.dram.take(at, missed) + missed)

    def busy(self) -> Iterator[tuple[str, float, list[list[list[float]]]]]:
        """Each kind of pipe: the mean cycles that those of it are busy, and when each is."""
        yield self._of_parts("issue", [part.issue for part in self.parts])
        for name in PIPES:
            yield self._of_parts(name, [part.units[name] for part in self.parts])
        for name, pipe in (
            ("shared", self.shared), ("l1", self.l1), ("l2", self.l2), ("dram", self.dram),
        ):  # fmt: skip
            yield name, pipe.busy, [pipe.spans]

    @staticmethod
    def _of_parts(name: str, pipes: list[Pipe]) -> tuple[str, float, list[list[list[float]]]]:
        return name, sum(pipe.busy for pipe in pipes) / PARTS, [pipe.spans for pipe in pipes]
