"""Which warps are whole, of some threads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from .alu import Array


def whole_warps(mask: Array, live: Array | None, warps: int = 1) -> Array | None:
    """Threads whose warps are in `mask` with all their live lanes; None if that is all of it.

    Args:
        mask: threads, (CTAs, warps, lanes).
        live: threads that have not exited; None for all.
        warps: how many neighbours must be there together.
    """
    missing = ~mask if live is None else live & ~mask
    come, absent = np.asarray(mask.any(axis=2)), np.asarray(missing.any(axis=2))
    if warps > 1:
        come, absent = _together(come, warps), _together(absent, warps)
    broken = np.asarray(come & absent)
    if not broken.any():
        return None
    return np.asarray(mask & ~broken[..., None])


def _together(some: Array, warps: int) -> Array:
    """Whether it holds for any of so many neighbouring warps, for each warp."""
    ctas, count = some.shape
    padded = np.zeros((ctas, -(-count // warps) * warps), np.bool_)
    padded[:, :count] = some
    found = padded.reshape(ctas, -1, warps).any(axis=2)
    return np.repeat(found, warps, axis=1)[:, :count]


def lane_bits(mask: Array) -> Array:
    """The lanes of each warp as a 32-bit number, of shape (CTAs, warps, 1)."""
    packed = np.packbits(mask, axis=2, bitorder="little")
    return np.ascontiguousarray(packed).view(np.uint32)


def warp_numbers(warps: Sequence[int]) -> str:
    """Warps in runs: `warps 0 to 3, 8`."""
    runs = []
    for _, run in groupby(enumerate(sorted(warps)), lambda item: item[1] - item[0]):
        members = [warp for _, warp in run]
        some = len(members) > 1
        runs.append(f"{members[0]} to {members[-1]}" if some else str(members[0]))
    return f"warp{'s' if len(warps) > 1 else ''} {', '.join(runs)}"
