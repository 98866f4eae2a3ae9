"""Rewriting a loop so that tiles of the next round wait in registers: copies without `cp.async`."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import LoadOp, StoreOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.tiles import bits_of, tensor_type
from tilec.ir.aliases import Attribute, Op, Type, Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, gpu
from tilec.ir.types import element_of, i1
from tilec.layout import LinearLayout
from tilec.layout.extents import is_one_unit
from tilec.layout.tiling import row_tile

from ..analysis.costs import HELD_REGISTERS
from ..analysis.places import outermost_loop
from ..emit import add, index_constant
from .loop_stages import LoopStages
from .staged_copies import StagedCopy

_REGISTER_BYTES = 4


def fits_registers(copies: list[StagedCopy], warps: int) -> bool:
    """Whether the tiles of copies may wait in registers: words, not too many, each held once.

    Tiles of several units do not.
    """
    taken = 0
    for copy in copies:
        if not is_one_unit(ir.DenseI64ArrayAttr(copy.copy.attributes["shape"])):
            return False
        layout = _layout(copy, warps)
        size = _bytes(copy)
        if not layout.is_injective or vector_of(copy.copy) * size < _REGISTER_BYTES:
            return False
        taken += prod(layout.out_sizes.values()) * size // (32 * warps * _REGISTER_BYTES)
    return taken <= HELD_REGISTERS


class RegisterStages(LoopStages):
    """The rewriting of one loop, with two stages.

    A round begins with a barrier, after which its tiles lie in stage `read` and nobody reads the
    other any more; then the next round's tiles are loaded to registers, and stored to the other
    stage when the work of this round is done.

    Args:
        loop: the `scf.for`.
        copies: those of its body that move.
        warps: warps of the CTA.
    """

    def __init__(self, loop: Op, copies: list[StagedCopy], warps: int) -> None:
        super().__init__(loop, copies, stages=2)
        self._warps = warps

    def run(self, frames: Iterable[Op]) -> None:
        """Rewrite the loop.

        Args:
            frames: ops of the body that nothing needs any more.
        """
        self.enlarge()
        with ir.InsertionPoint(self.loop):
            if outermost_loop(self.loop) is not None:
                # An outer loop comes here again while others may still read what they need.
                gpu.barrier()
            first = index_constant(0)
            self.if_there(self.lower, lambda: self._first(first))
        (read,) = self.carry([first])
        with ir.InsertionPoint.at_block_begin(self.block):
            gpu.barrier()
            held = self._load(add(self.counter, self.step))
        self.reload(read)
        with self.at_end():
            write = self.following(read)
            zero = index_constant(0)
            for copy, tile in zip(self.copies, held, strict=True):
                operands = [tile, self.buffers[copy.alloc], write, zero, zero]
                emit_effect(StoreOp, operands)
        self.pass_on(lambda: [write])
        self.erase(frames)

    def _first(self, stage: Value) -> None:
        for copy in self.copies:
            self.copy_to(copy, self.lower, stage)

    def _load(self, counter: Value) -> list[Value]:
        """The tiles of the round with this counter, if there is one; else anything."""
        types = [self._type(copy) for copy in self.copies]
        branch = scf.IfOp(self._there(counter), types, has_else=True)
        with ir.InsertionPoint(branch.then_block):
            pairs = zip(self.copies, types, strict=True)
            scf.YieldOp([self._loaded(copy, type_, counter) for copy, type_ in pairs])
        assert branch.else_block is not None
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([_zero(type_) for type_ in types])
        return list(branch.results)

    def _there(self, counter: Value) -> Value:
        there = self.there(counter)
        return arith.integer(i1(), 1) if there is None else there

    def _type(self, copy: StagedCopy) -> ir.RankedTensorType:
        element = element_of(copy.alloc.results[0].type)
        layout = _layout(copy, self._warps)
        return tensor_type(tuple(layout.out_sizes.values()), element, layout)

    def _loaded(self, copy: StagedCopy, type_: Type, counter: Value) -> Value:
        given = copy.copy.attributes
        kept = {name: given[name] for name in ("masked", "vector") if name in given}
        return emit(LoadOp, self.source_at(copy, counter), type_, **kept)


def _layout(copy: StagedCopy, warps: int) -> LinearLayout:
    """Who copies which elements: as a `tile.async_copy` does it."""
    rows, cols = ir.DenseI64ArrayAttr(copy.copy.attributes["shape"])
    return row_tile(rows, cols, vector_of(copy.copy), warps)


def _bytes(copy: StagedCopy) -> int:
    return bits_of(element_of(copy.alloc.results[0].type)) // 8


def _zero(type_: ir.RankedTensorType) -> Value:
    element = type_.element_type
    zero: Attribute = (
        ir.IntegerAttr.get(element, 0)
        if isinstance(element, ir.IntegerType)
        else ir.FloatAttr.get(element, 0.0)
    )
    return arith.splat(type_, zero)
