"""Sectors of global memory that the accesses of a warp touch.

Global memory is moved in sectors of 32 bytes: a warp that touches only parts of many costs as much
as one that fills them.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .access import vector_access
from .gf2 import rank
from .linear import LinearLayout, log2

SECTOR_BYTES = 32


class Traffic(NamedTuple):
    """What a warp does to move its part of a tile.

    Attributes:
        instructions: loads or stores.
        sectors: those that each instruction touches, summed up.
    """

    instructions: int
    sectors: int


@lru_cache(maxsize=1024)
def traffic(memory: LinearLayout, bits: int, vector: int, *, store: bool) -> Traffic:
    """The accesses of a warp to a tile whose rows begin with sectors of their own.

    Args:
        memory: (register, lane, …) -> place, the last output being contiguous in memory.
        bits: bits of an element, 8 or more.
        vector: elements that an instruction may move at once.
        store: whether it stores.
    """
    *outer, (last, _) = memory.outs
    fastest_first = (last, *(name for name, _ in reversed(outer)))
    ins = tuple(memory.in_sizes)
    offsets = memory.reorder(ins, fastest_first).flatten_outs("offset")
    access = vector_access(offsets, bits, store=store, widest=min(16, vector * bits // 8))
    assert access is not None
    inside = log2(SECTOR_BYTES * 8 // bits, "elements of a sector")
    row = memory.out_sizes[last]
    within = min(row.bit_length() - 1, inside)
    lanes = (column >> within for column in offsets.columns_of("lane"))
    return Traffic(access.instructions, access.instructions << rank(lanes))
