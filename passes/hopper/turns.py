"""Warpgroups that take the tiles of a CTA in turn: each computes whole tiles, "pingpong".

Until tile-fragments-to-nvvm a kernel is written for one of them, which takes all tiles: `tile.turn`
says which one executes it, and of how many. Warpgroup 0 is the first of them, 1 loads, 2 is the
second, so that neither the first nor the one that loads changes its number.
"""

from __future__ import annotations

from tilec.dialects.tile.attributes import PINGPONG, PRODUCER, TURNS
from tilec.dialects.tile.shared import is_barriers
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, llvm, nvvm
from tilec.ir.types import i32, memref_of
from tilec.isa import WARPGROUP_THREADS

from ..emit import index_constant

PAIR = 2
"""Warpgroups that take tiles in turn."""


def turns_of(function: Op) -> int:
    """How many warpgroups take the tiles of a CTA in turn; 1 where all of its threads share them.

    Args:
        function: the kernel.
    """
    given = given_attribute(function, TURNS, ir.IntegerAttr)
    return 1 if given is None else given.value


def takes_turns(function: Op) -> bool:
    """Whether tile-choose-pingpong has decided that warpgroups take the tiles of a CTA in turn."""
    given = given_attribute(function, PINGPONG, ir.BoolAttr)
    return given is not None and given.value


def has_each(alloc: Op) -> bool:
    """Whether each warpgroup that takes tiles has a buffer of its own: it alone touches it.

    Not mbarriers, nor what a warpgroup that loads fills.

    Args:
        alloc: the `tile.alloc_shared`.
    """
    (buffer,) = alloc.operation.results
    return not is_barriers(memref_of(buffer)) and not any(
        _is_of_producer(use.owner.operation) for use in buffer.uses
    )


def _is_of_producer(op: ir.Operation) -> bool:
    """Whether threads that load execute an op."""
    around: Op | None = op.parent
    while around is not None:
        if PRODUCER in around.operation.attributes:
            return True
        around = around.operation.parent
    return False


def turn_number(thread: Value) -> Value:
    """The number of a thread's warpgroup among those that take tiles, lane 0's of each warp.

    Args:
        thread: its number in the CTA, of type index.
    """
    number = arith.divui(thread, index_constant(PAIR * WARPGROUP_THREADS))
    word = arith.index_cast(number, i32())
    same = nvvm.shfl_sync(nvvm.Shuffle.IDX, word, llvm.constant_i32(0))
    return arith.index_castui(same, ir.IndexType.get())


def thread_in_turn(function: Op) -> Value:
    """The number of a thread among those that share tiles, of type index.

    Args:
        function: the kernel.
    """
    thread = gpu.thread_id(gpu.Dimension.X)
    if turns_of(function) == 1:
        return thread
    return arith.andi(thread, index_constant(WARPGROUP_THREADS - 1))
