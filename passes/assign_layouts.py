"""`tile-assign-layouts`: a layout for every tile, from level 1 to level 2."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

from tilec.dialects.tile.ops.base import tile_of
from tilec.dialects.tile.tiles import PlainTile, bits_of, tensor_type
from tilec.isa import LANES, TilecError
from tilec.layout import LinearLayout
from tilec.mlir import ir

from .base import Diagnostic, Pass, PassError, walk
from .emit import create
from .functions import functions, gpu_modules, threads
from .layout_choice import PIN, LayoutChoice, moved
from .layout_relations import agree, backward, forward
from .layout_wants import legal, memory_layout
from .tile_classes import FREE, MEMORY, VIEWS, Classes, has_plain_tiles, is_soft, plain
from .transposed_loads import fold_transposes


@dataclass(frozen=True)
class AssignLayouts(Pass):
    """Give every tile without a layout one, and convert where an op needs another.

    In: level 1, each `tile.dot` with `form` and `warps`. Out: level 2.

    Values that elementwise ops and control flow join share a layout. Products give theirs to
    accumulators and operands, accesses to memory choose wide ones, and views, reductions and
    broadcasts hand them on. `tile.layout` on an op pins that of its result, a
    `tile.convert_layout` to or from a type with a layout that of the other side. Constants are
    made anew for each use. A remark says where each layout comes from.
    """

    name: ClassVar[str] = "tile-assign-layouts"

    def apply(self, module: Any) -> None:
        """Rewrite every kernel of `module`."""
        errors: list[Diagnostic] = []
        for gpu_module in gpu_modules(module):
            for function in functions(gpu_module):
                if not has_plain_tiles(function):
                    continue
                try:
                    with function.location:
                        _Assignment(function).run()
                except PassError as error:
                    errors += error.diagnostics
                except TilecError as error:
                    errors.append(Diagnostic(function.location, f"'gpu.func' op {error}"))
        if errors:
            raise PassError(errors)


class _Assignment:
    """The assignment of one kernel."""

    def __init__(self, function: Any) -> None:
        self._warps = threads(function) // LANES
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
                _set_layout(value, layout)
        for task in tasks:
            task()
        for op in self._classes.ops:
            if PIN in op.attributes:
                del op.attributes[PIN]

    def _task(self, op: Any) -> Callable[[], None] | None:
        """What is to be done about an op when all types are set."""
        name = op.operation.name
        if name == "tile.dot":
            return partial(self._dot, op)
        if name in VIEWS or is_soft(op):
            return partial(_mend_view, op) if plain(op.results[0]) is not None else None
        if name in MEMORY:
            tile = plain(moved(op))
            assert tile is not None
            return partial(self._access, op, tile) if bits_of(tile.element) < 8 else None
        return None

    def _dot(self, op: Any) -> None:
        """Convert operands and result from and to the layouts of the instruction's fragments."""
        wanted = self._choice.dots[op.results[0]]
        for number, name in enumerate("abc"):
            _convert_operand(op, number, wanted[name])
        _convert_result(op, wanted["d"])
        del op.attributes["warps"]

    def _access(self, op: Any, tile: PlainTile) -> None:
        """Move a tile that shares bytes under a layout that can, if its own cannot."""
        layout = tile_of(moved(op), "the tile").layout
        if legal(op, tile, layout):
            return
        other = memory_layout(tile, [op], self._warps, ())
        if op.operation.name == "tile.load":
            _convert_result(op, other)
        else:
            _convert_operand(op, 0, other)


def _mend_view(op: Any) -> None:
    """Convert before a view, or behind a reduction, where its layouts do not agree."""
    source = tile_of(op.operation.operands[0], "source")
    result = tile_of(op.results[0], "result")
    if agree(op, source.layout, result.layout):
        return
    before = backward(op, result.layout, source.shape)
    narrowed = bits_of(source.element) < bits_of(result.element)
    if before is not None and not narrowed and agree(op, before, result.layout):
        _convert_operand(op, 0, before)
    else:
        _convert_result(op, forward(op, source.layout, result.shape))


def _multiply_constants(function: Any) -> None:
    """Give each use of a constant, fill or iota one of its own."""
    for op in list(walk(function)):
        if op.operation.name not in FREE or plain(op.results[0]) is None:
            continue
        if op.operation.name == "arith.constant" and not op.attributes["value"].is_splat:
            message = "'arith.constant' op of a tile must be the same number everywhere (a splat)"
            raise PassError([Diagnostic(op.location, message)])
        for use in list(op.results[0].uses)[1:]:
            with ir.InsertionPoint(op):
                copy = op.operation.clone()
            use.owner.operands[use.operand_number] = copy.results[0]


def _set_layout(value: Any, layout: LinearLayout) -> None:
    """Give a tile a layout, and its constant, if it is one."""
    type_ = tensor_type(tuple(value.type.shape), value.type.element_type, layout)
    value.set_type(type_)
    owner = value.owner
    if getattr(owner, "name", None) == "arith.constant":
        splat = owner.attributes["value"].get_splat_value()
        owner.attributes["value"] = ir.DenseElementsAttr.get_splat(type_, splat)


def _convert_operand(op: Any, number: int, layout: LinearLayout) -> None:
    """Have an op take its operand under a layout."""
    value = op.operation.operands[number]
    if tile_of(value, "operand").layout == layout:
        return
    type_ = tensor_type(tuple(value.type.shape), value.type.element_type, layout)
    with ir.InsertionPoint(op), op.location:
        op.operation.operands[number] = create("tile.convert_layout", [value], type_)


def _convert_result(op: Any, layout: LinearLayout) -> None:
    """Have an op give its result under a layout, and convert it to what its users expect."""
    result = op.results[0]
    if tile_of(result, "result").layout == layout:
        return
    expected = result.type
    _set_layout(result, layout)
    with ir.InsertionPoint.after(op), op.location:
        converted = create("tile.convert_layout", [result], expected)
    result.replace_all_uses_except(converted, converted.owner.operation)
