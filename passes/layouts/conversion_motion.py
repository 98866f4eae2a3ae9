"""Layout conversions at cheaper places: once, outside loops, where tiles are narrower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from tilec.dialects.semantics import is_free as can_be_free
from tilec.dialects.semantics import is_loop
from tilec.dialects.tile.attributes import LAYOUT
from tilec.dialects.tile.ops import ConvertLayoutOp
from tilec.dialects.tile.tiles import TileValue
from tilec.ir.mlir import ir
from tilec.isa import Target
from tilec.layout import LinearLayout

from ..base import walk
from ..search import defining_op, named
from .layout_types import converted, has_one_use, laid, set_layout, with_layout
from .layout_ways import Ways, price
from .tile_classes import is_elementwise


def conversions(function: ir.OpView) -> Iterator[ir.OpView]:
    """The conversions of tensors in a function, in program order."""
    for op in named(function, [ConvertLayoutOp]):
        if laid(op.results[0]) is not None:
            yield op.opview


def reuse(function: ir.OpView) -> bool:
    """Let one conversion serve all in its block that do the same; whether any went."""
    known: dict[Any, Any] = {}
    changed = False
    for op in conversions(function):
        key = (op.operands[0], op.results[0].type, op.operation.block)
        first = known.setdefault(key, op)
        if first is not op:
            op.results[0].replace_all_uses_with(first.results[0])
            op.operation.erase()
            changed = True
    return changed


def hoist(function: ir.OpView) -> bool:
    """Move conversions of what a loop does not change in front of it; whether any moved."""
    changed = False
    for op in conversions(function):
        loop = op.operation.parent
        while is_loop(loop) and not _inside(op.operands[0], loop):
            op.operation.move_before(loop)
            loop = op.operation.parent
            changed = True
    return changed


def _inside(value: ir.Value, loop: ir.OpView) -> bool:
    """Whether a value is made inside a loop."""
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else owner.parent
    while op is not None:
        if op == loop:
            return True
        op = op.parent
    return False


def sink(function: ir.OpView, target: Target | None) -> bool:
    """Convert what an elementwise op gives, not what it takes, where that is cheaper.

    Args:
        function: a kernel.
        target: whose matrix instructions conversions may use.

    Returns:
        Whether any op was changed.
    """
    changed = False
    for op in list(walk(function)):
        if not is_elementwise(op) or len(op.results) != 1 or LAYOUT in op.attributes:
            continue
        if laid(op.results[0]) is not None:
            changed |= _sink(op, target)
    return changed


def _sink(op: ir.OpView, target: Target | None) -> bool:
    operands = op.operation.operands
    tiles = {n: value for n, value in enumerate(operands) if laid(value) is not None}
    sources = {n: value.owner.operands[0] for n, value in tiles.items() if _is_conversion(value)}
    layouts = {_tile(source).layout for source in sources.values()}
    free = tiles.keys() - sources.keys()
    if len(layouts) != 1 or not all(_is_free(operands[n]) for n in free):
        return False
    (layout,) = layouts
    result = _tile(op.results[0])
    paid = sum(price(_tile(source), result.layout, target) for source in set(sources.values()))
    if price(replace(result, layout=layout), result.layout, target) >= paid:
        return False
    for number, source in sources.items():
        operands[number] = source
    for number in free:
        set_layout(operands[number], layout)
    set_layout(op.results[0], layout)
    _convert_back(op.results[0], result.layout, ir.InsertionPoint.after(op))
    return True


def carry(function: ir.OpView, target: Target | None) -> bool:
    """Let loops hand on tiles under the layout that they are converted to in each round.

    Args:
        function: a kernel.
        target: whose matrix instructions conversions may use.

    Returns:
        Whether any loop was changed.
    """
    changed = False
    for op in list(walk(function)):
        if op.operation.name == "scf.for" and LAYOUT not in op.attributes:
            for number in range(len(op.results)):
                if laid(op.results[number]) is not None:
                    changed |= _carry(op, number, Ways(target, staged=False))
    return changed


def _carry(loop: ir.OpView, number: int, ways: Ways) -> bool:
    body = loop.regions[0].blocks[0]
    argument, last = body.arguments[1 + number], body.operations[len(body.operations) - 1]
    users = [use.owner for use in argument.uses]
    if not all(isinstance(user.opview, ConvertLayoutOp) for user in users):
        return False
    if len({user.results[0].type for user in users}) != 1:
        return False
    carried, inner = _tile(argument), _tile(users[0].results[0])
    yielded = ways.best(last.operation.operands[number], inner.layout)
    if yielded.cost >= ways.price(carried, inner.layout):
        return False
    with ir.InsertionPoint(last), last.location:
        last.operation.operands[number] = yielded.make()
    with ir.InsertionPoint(loop), loop.location:
        begin = ways.best(loop.operation.operands[3 + number], inner.layout).make()
        loop.operation.operands[3 + number] = begin
    argument.set_type(with_layout(argument.type, inner.layout))
    for user in users:
        user.results[0].replace_all_uses_with(argument)
        user.erase()
    result = loop.results[number]
    set_layout(result, inner.layout)
    _convert_back(result, carried.layout, ir.InsertionPoint.after(loop))
    return True


def _convert_back(value: ir.Value, layout: LinearLayout, where: Any) -> None:
    """Give the users of a value, whose layout has changed, the one that they expect."""
    with where, value.owner.location:
        expected = converted(value, layout)
    value.replace_all_uses_except(expected, expected.owner.operation)


def _tile(value: ir.Value) -> TileValue:
    found = laid(value)
    assert found is not None
    return found


def _is_conversion(value: ir.Value) -> bool:
    """Whether a value comes from a conversion that nobody else uses."""
    return defining_op(value, ConvertLayoutOp) is not None and has_one_use(value)


def _is_free(value: ir.Value) -> bool:
    """Whether a value can be had under any layout, and nobody else uses it."""
    return can_be_free(value) and has_one_use(value)
