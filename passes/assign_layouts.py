"""`tile-assign-layouts`: a layout for every tile, from level 1 to level 2."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import ClassVar

from tilec.dialects.semantics import LayoutRule, layout_rule
from tilec.dialects.tile.attributes import AUTOMATIC
from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops import LoadOp, TakeOp
from tilec.dialects.tile.ops.atomic_rmw import FetchingOp
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.tiles import PlainTile, TileValue, bits_of
from tilec.ir.mlir import ir
from tilec.layout import LinearLayout

from .base import Diagnostic, PassError, walk
from .kernel_pass import Kernel, KernelPass
from .layouts.atomic_copies import combine_copies
from .layouts.layout_choice import LayoutChoice
from .layouts.layout_relations import agree, backward, forward
from .layouts.layout_types import convert_to, layout_tile, replace_but_in, set_layout
from .layouts.layout_wants import legal_layout, memory_layout, tile_operands
from .layouts.tile_classes import (
    Classes,
    has_no_layout,
    has_plain_tiles,
    is_product,
    is_related,
    plain,
)
from .layouts.transposed_loads import fold_transposes


class AssignLayouts(KernelPass):
    """Give every tile without a layout one, and convert where an op needs another.

    In: level 1, each `tile.dot` with `form` and `warps`. Out: level 2.

    Values connected by elementwise ops and control flow share a layout. Products determine the
    layouts of accumulators and operands, memory accesses prefer wide ones, and views,
    reductions and broadcasts propagate layouts. `tile.layout` on an op pins the layout of its
    result, and a `tile.convert_layout` to or from a type with a layout pins that of the other
    side. Constants are duplicated for each use. A remark gives the origin of each layout. The
    kernel becomes `tile.automatic`: passes that stage and pipeline its data work on such
    kernels.
    """

    name: ClassVar[str] = "tile-assign-layouts"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if has_plain_tiles(kernel.function):
            _Assignment(kernel).run()
            kernel.function.operation.attributes[AUTOMATIC] = ir.UnitAttr.get()


class _Assignment:
    """The assignment of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        function, self._warps = kernel.function, kernel.warps
        fold_transposes(function)
        _multiply_constants(function)
        self._classes = Classes(function)
        self._choice = LayoutChoice(self._classes, self._warps)

    def run(self) -> None:
        """Set all types, then convert where an op does not take what it gets."""
        tasks = [task for op in self._classes.ops if (task := self._task(op)) is not None]
        for root in self._classes.all():
            layout = self._choice.layout(root)
            for value in self._classes.members(root):
                set_layout(value, layout)
        for task in tasks:
            task()

    def _task(self, op: ir.OpView) -> Callable[[], None] | None:
        """What is to be done about an op when all types are set."""
        if is_product(op):
            return partial(self._dot, op)
        if is_related(op):
            return partial(_mend_view, op) if plain(op.results[0]) is not None else None
        if isinstance(op, FetchingOp):
            return partial(combine_copies, op)
        if isinstance(op, MemoryOp):
            tile = plain(op.tile)
            assert tile is not None
            return partial(self._access, op, tile) if bits_of(tile.element) < 8 else None
        return None

    def _dot(self, op: ir.OpView) -> None:
        """Convert operands and result from and to the layouts of the instruction's fragments."""
        wanted = self._choice.dots[op.results[0]]
        for name, number in tile_operands(op).items():
            _convert_operand(op, number, wanted[name])
        _convert_result(op, wanted["d"])
        if op.operation.name in DOTS:  # others need it on
            del op.attributes["warps"]

    def _access(self, op: MemoryOp, tile: PlainTile) -> None:
        """Move a tile that shares bytes under a layout that can, if its own cannot."""
        own = layout_tile(op.tile)
        assert own is not None
        if legal_layout(op, tile, own.layout):
            return
        other = memory_layout(tile, [op], self._warps, ())
        if isinstance(op, LoadOp):
            _convert_result(op, other)
        else:
            _convert_operand(op, 0, other)


def _mend_view(op: ir.OpView) -> None:
    """Convert before a view, or after a reduction, where its layouts do not agree."""
    source, result = layout_tile(op.operation.operands[0]), layout_tile(op.results[0])
    assert source is not None
    assert result is not None
    if agree(op, source.layout, result.layout):
        return
    if isinstance(op, TakeOp):
        _mend_take(op, source)
        return
    before = backward(op, result.layout, source.shape)
    narrowed = bits_of(source.element) < bits_of(result.element)
    if before is not None and not narrowed and agree(op, before, result.layout):
        _convert_operand(op, 0, before)
    else:
        _convert_result(op, forward(op, source.layout, result.shape))


def _mend_take(op: TakeOp, source: TileValue) -> None:
    """Take elements under a layout that allows it."""
    layout = op.legal(source.layout)
    _convert_operand(op, 0, layout)
    _convert_result(op, layout)


def _multiply_constants(function: ir.OpView) -> None:
    """Give each use of a constant, fill or iota one of its own."""
    for op in list(walk(function)):
        if layout_rule(op) is not LayoutRule.FREE or not has_no_layout(op.results[0]):
            continue
        if "value" in op.attributes and not _is_splat(op.attributes["value"]):
            message = "'arith.constant' op of a tile must be the same number everywhere (a splat)"
            raise PassError([Diagnostic(op.location, message)])
        for use in list(op.results[0].uses)[1:]:
            with ir.InsertionPoint(op):
                copy = op.operation.clone()
            use.owner.operands[use.operand_number] = copy.results[0]


def _is_splat(value: ir.Attribute) -> bool:
    return isinstance(value, ir.DenseElementsAttr) and bool(value.is_splat)


def _convert_operand(op: ir.OpView, number: int, layout: LinearLayout) -> None:
    """Have an op take its operand under a layout."""
    with ir.InsertionPoint(op), op.location:
        operands = op.operation.operands
        operands[number] = convert_to(operands[number], layout)


def _convert_result(op: ir.OpView, layout: LinearLayout) -> None:
    """Have an op give its result under a layout, and convert it to what its users expect."""
    result = op.results[0]
    tile = layout_tile(result)
    assert tile is not None
    if tile.layout == layout:
        return
    set_layout(result, layout)
    with ir.InsertionPoint.after(op), op.location:
        expected = convert_to(result, tile.layout)
    replace_but_in(result, expected)
