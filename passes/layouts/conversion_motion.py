"""Layout conversions at cheaper places: once, outside loops, where tiles are narrower."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tilec.dialects.semantics import is_free as can_be_free
from tilec.dialects.semantics import is_loop
from tilec.dialects.semantics.control import Counted, last_of
from tilec.dialects.tile.attributes import LAYOUT
from tilec.dialects.tile.ops import ConvertLayoutOp
from tilec.ir.aliases import Block, Op, Type, Value
from tilec.ir.mlir import ir, scf
from tilec.isa import Target
from tilec.layout import LinearLayout

from ..base import walk
from ..search import defining_op, named
from .layout_plans import LayoutPlanner, price
from .layout_types import (
    convert_to,
    has_one_use,
    known_layout,
    layout_tile,
    replace_but_in,
    set_layout,
    with_layout,
)
from .tile_classes import is_elementwise


def conversions(function: Op) -> Iterator[ConvertLayoutOp]:
    """The conversions of tensors in a function, in program order."""
    for operation in named(function, [ConvertLayoutOp]):
        op = operation.opview
        if isinstance(op, ConvertLayoutOp) and layout_tile(op.result) is not None:
            yield op


def reuse(function: Op) -> bool:
    """Let one conversion serve all in its block that do the same; whether any went."""
    known: dict[tuple[Value, Type, Block], ConvertLayoutOp] = {}
    changed = False
    for op in conversions(function):
        key = (op.source, op.result.type, op.operation.block)
        first = known.setdefault(key, op)
        if first is not op:
            op.result.replace_all_uses_with(first.result)
            op.operation.erase()
            changed = True
    return changed


def hoist(function: Op) -> bool:
    """Move conversions of what a loop does not change in front of it; whether any moved."""
    changed = False
    for op in conversions(function):
        loop = op.operation.parent
        while loop is not None and is_loop(loop) and not _inside(op.source, loop):
            op.operation.move_before(loop)
            loop = op.operation.parent
            changed = True
    return changed


def _inside(value: Value, loop: Op) -> bool:
    """Whether a value is made inside a loop."""
    owner = value.owner
    op: Op | None = owner.owner if isinstance(owner, ir.Block) else owner.parent
    while op is not None:
        if op.operation == loop.operation:
            return True
        op = op.operation.parent
    return False


def sink(function: Op, target: Target | None) -> bool:
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
        if layout_tile(op.results[0]) is not None:
            changed |= _sink(op, target)
    return changed


def _sink(op: ir.OpView, target: Target | None) -> bool:
    operands = op.operands
    tiles = {n: value for n, value in enumerate(operands) if layout_tile(value) is not None}
    found = {n: _converted_alone(value) for n, value in tiles.items()}
    sources = {n: source for n, source in found.items() if source is not None}
    layouts = {known_layout(source).layout for source in sources.values()}
    free = tiles.keys() - sources.keys()
    if len(layouts) != 1 or not all(_is_free(operands[n]) for n in free):
        return False
    (layout,) = layouts
    result = known_layout(op.results[0])
    paid = sum(
        price(known_layout(source), result.layout, target) for source in set(sources.values())
    )
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
        if isinstance(op, scf.ForOp) and LAYOUT not in op.attributes:
            for number in range(len(op.results)):
                if layout_tile(op.results[number]) is not None:
                    changed |= _carry(op, number, LayoutPlanner(target, staged=False))
    return changed


def _carry(loop: scf.ForOp, number: int, planner: LayoutPlanner) -> bool:
    argument, last = loop.inner_iter_args[number], last_of(loop.body)
    users = [use.owner for use in argument.uses]
    if not all(isinstance(user, ConvertLayoutOp) for user in users):
        return False
    if len({user.results[0].type for user in users}) != 1:
        return False
    carried, inner = known_layout(argument), known_layout(users[0].results[0])
    yielded = planner.best(last.operands[number], inner.layout)
    if yielded.cost >= planner.price(carried, inner.layout):
        return False
    with ir.InsertionPoint(last), last.location:
        last.operands[number] = yielded.make(planner)
    with ir.InsertionPoint(loop), loop.location:
        begin = planner.best(loop.initArgs[number], inner.layout).make(planner)
        loop.operands[Counted.BOUNDS + number] = begin
    argument.set_type(with_layout(argument.type, inner.layout))
    for user in users:
        user.results[0].replace_all_uses_with(argument)
        user.operation.erase()
    result = loop.results[number]
    set_layout(result, inner.layout)
    _convert_back(result, carried.layout, ir.InsertionPoint.after(loop))
    return True


def _convert_back(value: ir.OpResult, layout: LinearLayout, where: ir.InsertionPoint) -> None:
    """Give the users of a value, whose layout has changed, the one that they expect."""
    with where, value.owner.location:
        expected = convert_to(value, layout)
    replace_but_in(value, expected)


def _converted_alone(value: Value) -> Value | None:
    """What a value is converted from, if nobody else uses it."""
    conversion = defining_op(value, ConvertLayoutOp)
    return None if conversion is None or not has_one_use(value) else conversion.source


def _is_free(value: Value) -> bool:
    """Whether a value can be had under any layout, and nobody else uses it."""
    return can_be_free(value) and has_one_use(value)
