"""Parts of global memory that follow each other in a copy, and the segments that they fill."""

from __future__ import annotations

import numpy as np

from ..alu import Array


def whole_segments(places: Array, size: int, segment: int) -> tuple[Array, Array]:
    """The segments that runs of parts fill, and the parts outside of them.

    Args:
        places: where parts begin, (n,), multiples of `size`.
        size: bytes of a part, which divide those of a segment.
        segment: bytes of a segment.

    Returns:
        The segments, (m,), and which parts are in none of them, (n,).
    """
    breaks = np.flatnonzero(np.diff(places) != size)
    begins = places[np.concatenate([[0], breaks + 1])]
    ends = places[np.concatenate([breaks, [len(places) - 1]])] + size
    first, last = -(-begins // segment), ends // segment
    counts = np.maximum(last - first, 0)
    total = int(counts.sum())
    before = np.cumsum(counts) - counts
    segments = np.repeat(first - before, counts) + np.arange(total)
    rest = np.zeros(len(places), np.bool_)
    if total * segment != len(places) * size:
        # Parts of a run before the first segment that it fills, and from the end of the last on.
        runs = np.zeros(len(places), np.int64)
        runs[breaks + 1] = 1
        run = np.cumsum(runs)
        rest = (places < first[run] * segment) | (places >= last[run] * segment)
        rest |= counts[run] == 0
    return segments, rest
