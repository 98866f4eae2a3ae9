"""Products of tiles of several units."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ConcatOp, SliceOp
from tilec.dialects.tile.ops.dots import dot_values
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.ir.attributes import i64_attribute
from tilec.ir.mlir import ir
from tilec.layout.operands import INDICES

from ..fragments.expansion import Expansion, Values
from .unit_types import Grid, attributes_of, created, types_of_units, unit_type


def dot_units(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    """A product for each unit of C, and each along K: of those each adds to the one before."""
    values = dot_values(op)
    result = values.pop("d")
    grids = {name: Grid.of(value, expansion.values(value)) for name, value in values.items()}
    (rows, cols), (depth, _) = grids["c"].counts, grids["b"].counts
    attributes, type_ = attributes_of(op), unit_type(result.type)
    sums = {(m, n): grids["c"](m, n) for m, n in product(range(rows), range(cols))}
    # K outermost, as among the instructions of one product.
    for k, m, n in product(range(depth), range(rows), range(cols)):
        at = {"m": m, "n": n, "k": k}
        operands = [
            sums[m, n] if name == "c" else grids[name](*(at[index] for index in INDICES[name]))
            for name in values
        ]
        (sums[m, n],) = created(op, operands, type_, attributes)
    return [list(sums.values())]


def whole_product(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    """`tile.warpgroup_dot`, whose tiles are put together before it, and taken apart after."""
    assert isinstance(op, AwaitedProduct)
    operands = list(op.operation.operands)
    for number in op.tiles().values():
        value = operands[number]
        if types_of_units(value.type):
            operands[number] = emit(ConcatOp, expansion.values(value), value.type)
    (whole,) = created(op, operands, op.d.type, attributes_of(op))
    units = types_of_units(op.d.type)
    if units is None:
        return [[whole]]
    return [
        [
            emit(SliceOp, [whole], type_, index=i64_attribute(number))
            for number, type_ in enumerate(units)
        ]
    ]
