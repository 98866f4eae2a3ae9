"""What all builders share: an op created and checked at once, and its small change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TypeAlias, overload

from tilec.ir.aliases import Attribute, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.isa import Form, TilecError

from ..ops.base import TileOp, check_op
from .types import TypeLike, parsed_type

Index: TypeAlias = Value | int
"""A value of type index, or a constant."""


@overload
def emit(
    op: type[TileOp],
    operands: Sequence[Value],
    result: None = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> None: ...
@overload
def emit(
    op: type[TileOp],
    operands: Sequence[Value],
    result: TypeLike,
    attributes: Mapping[str, Attribute] | None = None,
) -> Value: ...
def emit(
    op: type[TileOp],
    operands: Sequence[Value],
    result: TypeLike | None = None,
    attributes: Mapping[str, Attribute] | None = None,
) -> Value | None:
    """Create and check an op at the current location; its result, if it has one.

    Raises:
        TilecError: if the op does not verify; it is then gone again.
    """
    for operand in operands:
        if not isinstance(operand, ir.Value):
            raise TilecError(f"'{op.OPERATION_NAME}' op takes MLIR values, not {operand!r}")
    results = [] if result is None else [parsed_type(result)]
    made = ir.Operation.create(
        op.OPERATION_NAME,
        results=results,
        operands=operands,
        attributes=attributes or {},
        loc=ir.Location.current,
    )
    check_op(made)
    return made.result if results else None


def emit_all(
    op: type[TileOp],
    operands: Sequence[Value],
    results: Sequence[Type],
    attributes: Mapping[str, Attribute],
) -> list[Value]:
    """As `emit`, of an op with any number of results."""
    made = ir.Operation.create(
        op.OPERATION_NAME,
        results=list(results),
        operands=operands,
        attributes=attributes,
        loc=ir.Location.current,
    )
    check_op(made)
    return list(made.results)


def indices_of(values: Sequence[Index]) -> list[Value]:
    """Values of type index, Python integers made into constants."""
    type_ = ir.IndexType.get()
    return [constant(v, type_) if isinstance(v, int) else v for v in values]


def constant(number: float, type_: Type) -> Value:
    """An `arith.constant` at the current location.

    Raises:
        TilecError: if the number is none of the type.
    """
    value: Attribute | None = None
    with suppress(TypeError, ValueError):
        if isinstance(type_, ir.FloatType):
            value = ir.FloatAttr.get(type_, number)
        elif isinstance(number, int):
            value = ir.IntegerAttr.get(type_, number)
    if value is None:
        raise TilecError(f"{number!r} is no constant of type {type_}")
    return arith.constant(type_, value, ir.Location.current)


def access(transposed: bool, masked: bool = False, vector: int = 1) -> dict[str, Attribute]:
    """The attributes of an access to memory that are not as by default."""
    attributes: dict[str, Attribute] = {}
    if transposed:
        attributes["transposed"] = ir.UnitAttr.get()
    if masked:
        attributes["masked"] = ir.UnitAttr.get()
    if vector != 1:
        attributes["vector"] = i64(vector)
    return attributes


def i64(number: int) -> ir.IntegerAttr:
    """An attribute of type i64."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def form_name(given: Form | str) -> ir.StringAttr:
    """The attribute `form`."""
    return ir.StringAttr.get(given if isinstance(given, str) else given.ptx)
