"""The units of a tile: their types, and which is which."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from tilec.ir.aliases import Attribute, Op, Type, Value
from tilec.ir.mlir import ir
from tilec.layout.extents import is_one_unit, unit_counts, unit_extents

from ..fragments.expansion import Values


def types_of_units(type_: Type) -> list[Type] | None:
    """The types of a tile's units, in row-major order; None for what is one, or no tile."""
    if not isinstance(type_, ir.RankedTensorType) or is_one_unit(type_.shape):
        return None
    return [unit_type(type_)] * prod(unit_counts(type_.shape))


def unit_type(type_: Type) -> ir.RankedTensorType:
    """The type of each unit of a tile: with its layout, if it has one."""
    tile = ir.RankedTensorType(type_)
    unit = list(unit_extents(tile.shape))
    return ir.RankedTensorType.get(unit, tile.element_type, encoding=tile.encoding)


class Grid(NamedTuple):
    """The units of a tile in their places.

    Attributes:
        counts: units along each axis.
        values: in row-major order.
    """

    counts: tuple[int, ...]
    values: Values

    @classmethod
    def of(cls, value: Value, values: Values) -> Grid:
        """That of a tile which `values` replace."""
        return cls(unit_counts(ir.RankedTensorType(value.type).shape), values)

    def __call__(self, *number: int) -> Value:
        """The unit of a number along each axis; along axes of one unit that one."""
        at = 0
        for one, count in zip(number, self.counts, strict=True):
            at = at * count + (one if count > 1 else 0)
        return self.values[at]


def counts_of(value: Value) -> tuple[int, ...]:
    """Units of a tile along each axis."""
    return unit_counts(ir.RankedTensorType(value.type).shape)


def attributes_of(op: Op) -> dict[str, Attribute]:
    """The attributes of an op, which what replaces it has, too."""
    attributes = op.operation.attributes
    return {name: attributes[name] for name in attributes}


def created_all(
    op: Op, operands: Sequence[Value], results: Sequence[Type], attributes: dict[str, Attribute]
) -> Values:
    """An op of the same name on other operands; its results."""
    return list(ir.Operation.create(op.operation.name, results, operands, attributes).results)


def created(
    op: Op, operands: Values, result: Type | None, attributes: dict[str, Attribute]
) -> Values:
    """An op of the same name on other operands; its result, if it has one."""
    types = [] if result is None else [result]
    return list(ir.Operation.create(op.operation.name, types, operands, attributes).results)
