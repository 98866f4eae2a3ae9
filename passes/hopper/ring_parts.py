"""Parts of the stages of a ring, and the mbarriers that say that they are full, or empty again."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.attributes import MULTICAST
from tilec.dialects.tile.shared import shared_buffer
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import i32, memref_of

from ..emit import add_constant
from ..staging.staged_copies import StagedCopy
from .box_copies import why_no_box

LOADERS = 2
"""Warps that copy what TMA does not: the last of the warpgroup that loads."""


def is_box(copy: StagedCopy) -> bool:
    """Whether TMA can make a copy: not of scale factors, whose order it would not give."""
    return not why_no_box(memref_of(copy.alloc.results[0]))


class Ring(NamedTuple):
    """Mbarriers of a ring of stages: that part of a stage is full, and that it is empty again."""

    full: Value
    empty: Value


class Part(NamedTuple):
    """What of a stage the same ops read: it is full, and empty again, by itself.

    Attributes:
        copies: what fills it.
        readers: ops of the loop's body, in order.
        number: of the part; those read first come first.
    """

    copies: list[StagedCopy]
    readers: list[ir.Operation]
    number: int

    def barrier(self, stage: Value, stages: int) -> Value:
        """The number of its mbarriers of a stage, of so many."""
        return add_constant(stage, self.number * stages)

    @property
    def is_shared(self) -> bool:
        """Whether CTAs of a cluster load some of it for each other."""
        return any(MULTICAST in copy.copy.attributes for copy in self.copies)

    @property
    def boxes(self) -> list[StagedCopy]:
        """What TMA copies."""
        return [copy for copy in self.copies if is_box(copy)]

    @property
    def factors(self) -> list[StagedCopy]:
        """What warps copy: scale factors."""
        return [copy for copy in self.copies if not is_box(copy)]

    @property
    def arrivals(self) -> int:
        """Arrivals that say that it is full: of the thread that loads boxes, and of those warps."""
        return bool(self.boxes) + LOADERS * bool(self.factors)

    @property
    def bytes(self) -> int:
        """Bytes of its boxes."""
        return sum(shared_buffer(memref_of(c.alloc.results[0])).bytes for c in self.boxes)


def parts_of(loop: Op, copies: list[StagedCopy]) -> list[Part]:
    """The parts of a stage, as the body of a loop reads them one after the other.

    Args:
        loop: the `scf.for`.
        copies: those of its body, which ops of that body alone read.
    """
    ops = [op.operation for op in loop.regions[0].blocks[0].operations]
    places = {
        tuple(sorted(ops.index(reader.operation) for reader in copy.loads)): None for copy in copies
    }
    parts = []
    for number, at in enumerate(sorted(places)):
        readers = [ops[place] for place in at]
        same = [copy for copy in copies if {op.operation for op in copy.loads} == set(readers)]
        parts.append(Part(same, readers, number))
    return parts


def next_stage(stage: Value, parity: Value, stages: int) -> list[Value]:
    """The stage of a ring after this, and its parity: the other one where the ring begins anew."""
    following = arith.addi(stage, arith.integer(i32(), 1))
    wraps = arith.cmpi(CmpI.EQ, following, arith.integer(i32(), stages))
    begin = arith.integer(i32(), 0)
    return [arith.select(wraps, begin, following), arith.xori(parity, wraps)]
