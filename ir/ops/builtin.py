"""`builtin`: casts that a later conversion resolves."""

from __future__ import annotations

from collections.abc import Sequence

from ..aliases import Type, Value
from ..mlir import ir
from .shapes import cast

UNREALIZED_CAST = "builtin.unrealized_conversion_cast"
"""The name of the cast, which conversions leave and resolve."""

unrealized_conversion_cast = cast(UNREALIZED_CAST)


def placeholder(type_: Type) -> ir.OpResult:
    """A value of a type, made of nothing: it stands for one that could not be made."""
    return ir.Operation.create(UNREALIZED_CAST, results=[type_]).result


def stand_for(value: Value, types: Sequence[Type]) -> ir.Operation:
    """A cast of a value whose results stand for the values that will replace it."""
    return ir.Operation.create(UNREALIZED_CAST, results=types, operands=[value])
