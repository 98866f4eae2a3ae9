"""Elementwise ops, constants, views and reductions of tiles of several units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import FillOp, IotaOp, ReduceOp, TransposeOp
from tilec.dialects.tile.ops.views import ViewOp
from tilec.ir.attributes import attribute
from tilec.ir.creation import create
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.layout.extents import unit_extents

from ..fragments.expansion import Expansion, Values
from .unit_types import (
    Grid,
    attributes_of,
    counts_of,
    created,
    created_all,
    types_of_units,
    unit_type,
)


def repeat_op(op: ir.OpView, expansion: Expansion) -> Values:
    """An op that does to each unit what it does to the tile; scalars are the same for all."""
    types = types_of_units(op.results[0].type) or []
    attributes = attributes_of(op)
    operands = [
        expansion.values(o) if types_of_units(o.type) else [o] * len(types)
        for o in op.operation.operands
    ]
    found: Values = []
    for *own, type_ in zip(*operands, types, strict=True):
        found += created(op, own, type_, attributes)
    return found


def repeat_all(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    """The same of an op that takes tiles alone, and may give several."""
    types = [types_of_units(result.type) or [] for result in op.results]
    operands = [expansion.values(operand) for operand in op.operation.operands]
    units = zip(zip(*operands, strict=True), zip(*types, strict=True), strict=True)
    made = [created_all(op, own, each, attributes_of(op)) for own, each in units]
    return [list(values) for values in zip(*made, strict=True)]


def constant_unit(op: ir.OpView, _: Expansion) -> Sequence[Values]:
    """`arith.constant`: that of a unit, for all of them."""
    types = types_of_units(op.results[0].type) or []
    value = attribute(op, "value", ir.DenseElementsAttr)
    splat = ir.DenseElementsAttr.get_splat(types[0], value.get_splat_value())
    return [[arith.constant(types[0], splat)] * len(types)]


def repeat_view(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    """`tile.broadcast`, `tile.transpose`: of each unit of the result the one that it comes from."""
    assert isinstance(op, ViewOp)
    source = _grid(op, expansion)
    attributes, type_ = attributes_of(op), unit_type(op.result.type)
    found: Values = []
    for number in product(*map(range, counts_of(op.result))):
        from_ = number
        if isinstance(op, TransposeOp):
            order = list(op.permutation)
            from_ = tuple(number[order.index(at)] for at in range(len(order)))
        one = source(*from_)
        found += [one] if one.type == type_ else created(op, [one], type_, attributes)
    return [found]


def count_units(op: ir.OpView, _: Expansion) -> Sequence[Values]:
    """`tile.iota`: the indices of a unit, and where along the axis it begins."""
    assert isinstance(op, IotaOp)
    type_ = unit_type(op.result.type)
    axis = op.axis.value
    extent = unit_extents(ir.RankedTensorType(op.result.type).shape)[axis]
    (first,) = created(op, [], type_, attributes_of(op))
    along: Values = [first]
    for number in range(1, counts_of(op.result)[axis]):
        begin = arith.integer(type_.element_type, number * extent)
        along.append(arith.addi(first, emit(FillOp, [begin], type_)))
    return [[along[number[axis]] for number in product(*map(range, counts_of(op.result)))]]


def reduce_units(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    """`tile.reduce`: the units along the axis combined, and then what each has."""
    assert isinstance(op, ReduceOp)
    source, axis, fn = _grid(op, expansion), op.axis.value, op.fn.value
    rest = [count for at, count in enumerate(source.counts) if at != axis]
    result = op.result.type
    type_ = unit_type(result) if isinstance(result, ir.RankedTensorType) else result
    attributes = attributes_of(op)
    found: Values = []
    for number in product(*map(range, rest)):
        whole, *others = (
            source(*number[:axis], along, *number[axis:]) for along in range(source.counts[axis])
        )
        for other in others:
            whole = create(fn, [whole, other], whole.type)
        found += created(op, [whole], type_, attributes)
    return [found]


def _grid(op: ReduceOp | ViewOp, expansion: Expansion) -> Grid:
    return Grid.of(op.source, expansion.values(op.source))
