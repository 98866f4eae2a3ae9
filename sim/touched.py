"""Which bytes of global memory CTAs read and write, off what is kept of them to find races."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alu import Array
from .checks.global_memory import GlobalChecks
from .checks.operations import GRANULE
from .checks.owners import joined


@dataclass(frozen=True)
class Epochs:
    """What is kept of an allocation.

    Attributes:
        name: how findings call it.
        size: its bytes.
        segment: bytes of a segment.
        first: bytes of a granule in the beginning.
        granule: the same in the end.
        split: segments that are split into granules.
    """

    name: str
    size: int
    segment: int
    first: int
    granule: int
    split: Array

    @property
    def bytes(self) -> int:
        """What it takes, as `Owners.bytes` of the same."""
        count = -(-self.size // self.segment)
        return 24 * (count + len(self.split) * (self.segment // self.granule))


@dataclass(frozen=True)
class Touched:
    """What CTAs have touched.

    What nobody may write is left out.

    Attributes:
        read: bytes of memory, from and to, (n, 2), ascending; not what they wrote later.
        written: bytes that they wrote, likewise.
        epochs: what is kept of allocations, by where these begin.
        grain: bytes that belong together where CTAs meet.
        unknown: why that is not all; empty if it is.
    """

    read: Array
    written: Array
    epochs: dict[int, Epochs]
    grain: int
    unknown: str

    def coarse(self, spans: Array) -> Array:
        """Spans of whole grains."""
        if self.grain == 1:
            return spans
        first, last = spans[:, :1], spans[:, 1:]
        whole = np.concatenate([first // self.grain, -(-last // self.grain)], axis=1)
        return joined(whole * self.grain)


def why_unknown(checks: GlobalChecks) -> str:
    """Why it is not known what CTAs touch; empty if it is."""
    if not checks.grid.on or checks.grid.left_out:
        return "races between its CTAs are not looked for everywhere"
    if checks.grid.clocks.told:
        return "its CTAs synchronise"
    return ""


def touched(checks: GlobalChecks) -> Touched:
    """What CTAs have touched since the beginning, or since the checks were restarted."""
    read = [np.array([[at, at + size]]) for at, size, writes in checks.mapped if not writes]
    written = [np.array([[at, at + size]]) for at, size, writes in checks.mapped if writes]
    epochs = {}
    for start, owners in sorted(checks.grid.known.items()):
        read.append(owners.touched(written=False))
        written.append(owners.touched(written=True))
        allocation = owners.allocation
        epochs[start] = Epochs(
            allocation.name,
            allocation.end - allocation.start,
            owners.segment,
            owners.first,
            owners.granule,
            np.flatnonzero(owners.split),
        )
    return Touched(
        _together(read),
        _together(written),
        epochs,
        1 if checks.proxies is None else GRANULE,
        why_unknown(checks),
    )


def overlap(some: Array, others: Array) -> int | None:
    """The first byte of some spans that lies in others, (n, 2) and ascending; None if none does."""
    if not len(some) or not len(others):
        return None
    at = np.searchsorted(others[:, 1], some[:, 0], side="right")
    start = others[np.minimum(at, len(others) - 1), 0]
    met = np.flatnonzero((at < len(others)) & (start < some[:, 1]))
    return int(max(some[met[0], 0], start[met[0]])) if met.size else None


def _together(spans: list[Array]) -> Array:
    return joined(np.concatenate([np.zeros((0, 2), np.int64), *spans]))


def spans(marks: Array) -> Array:
    """Where bytes that are not 0 follow each other: from, and to, (n, 2)."""
    edges = np.flatnonzero(np.diff(marks, prepend=np.uint8(0), append=np.uint8(0)))
    found: Array = edges.reshape(-1, 2)
    return found
