"""What is remembered of tensor memory: sums of products, loads, stores, what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ..ptx.module import Instruction


class Wrong(NamedTuple):
    """What is wrong with an access: in words, and whether it lacks no more than a fence."""

    words: str
    fence: bool = False


class Accumulator(NamedTuple):
    """The sums of a product: the first lane and column, rows and columns."""

    lane: int
    column: int
    m: int
    n: int


def differ(one: Accumulator | None, other: Accumulator | None) -> bool:
    """Whether two products have sums of other shapes in the same lanes; not of two copies."""
    return one is not None and other is not None and one != other and one.lane == other.lane


@dataclass(slots=True)
class TensorTouch:
    """The last load or store of a column by a warp.

    Attributes:
        instruction: the load or store.
        over: when its warp had waited for it; 0 if it has not.
        stores: whether it is a store.
        fenced: when its warp, after that, executed `tcgen05.fence::before_thread_sync`.
    """

    instruction: Instruction
    over: int
    stores: bool
    fenced: int = 0
