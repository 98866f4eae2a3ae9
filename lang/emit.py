"""Ops as the kernel's Python makes them, each at the place of the call that makes it.

Here alone `lang` touches MLIR's bindings, which are imported with the first op.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from tilec.ir import mlir, ops
from tilec.isa import TilecError
from tilec.report.diagnostics import Place

from .tile import NO_KERNEL, DType

P = ParamSpec("P")
T = TypeVar("T")
Shape = tuple[int, ...]
_statement: ContextVar[Place | None] = ContextVar("statement", default=None)
MADE: ContextVar[Callable[[Any], None] | None] = ContextVar("made", default=None)
"""What is told of every op that was made; None where nobody asks, as in compilations."""


@contextmanager
def located(place: Place | None) -> Iterator[None]:
    """Give the ops made inside this place; None gives each that of the user's call."""
    token = _statement.set(place)
    try:
        yield
    finally:
        _statement.reset(token)


def place() -> Place:
    """The place of the statement, or of the user's call, that is under way."""
    from tilec.dialects.tile.builders.caller import caller  # noqa: PLC0415 (imports MLIR)

    return _statement.get() or Place(*caller())


def here() -> Any:
    """The same as an MLIR location."""
    file, line, column = place()
    return mlir.ir.Location.file(file, line, column)


def emit(make: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What one of the functions of `tilec.ir.ops` makes, at the place of the user's call.

    Raises:
        TilecError: if no kernel is being built.
    """
    _check_inside()
    with here():
        found = make(*args, **kwargs)
    if found is not None and (made := MADE.get()) is not None:
        made(getattr(found, "owner", found))
    return found


def operation(
    name: str,
    operands: Sequence[Any] = (),
    results: Sequence[Any] = (),
    attributes: Mapping[str, Any] | None = None,
    regions: int = 0,
) -> Any:
    """An op at the current insertion point; one of the tile dialect is checked at once.

    Raises:
        TilecError: if the op is not legal, or no kernel is being built.
    """
    _check_inside()
    op = mlir.ir.Operation.create(
        name,
        results=list(results),
        operands=list(operands),
        attributes=dict(attributes or {}),
        regions=regions,
        loc=here(),
    )
    if name.startswith("tile."):
        from tilec.dialects.tile.ops.base import check_op  # noqa: PLC0415 (imports MLIR)

        check_op(op)
    if (made := MADE.get()) is not None:
        made(op)
    return op


def result(
    name: str,
    operands: Sequence[Any],
    type_: Any,
    attributes: Mapping[str, Any] | None = None,
) -> Any:
    """The result of an op that has one."""
    return operation(name, operands, [type_], attributes).result


def building() -> bool:
    """Whether a kernel is being built."""
    if "ir" not in vars(mlir):
        return False
    try:
        return mlir.ir.InsertionPoint.current is not None
    except ValueError:
        return False


def _check_inside() -> None:
    if not building():
        raise TilecError(NO_KERNEL)


def type_of(dtype: type[DType], shape: Shape = ()) -> Any:
    """The MLIR type of a tile, or of a scalar if the shape is empty."""
    _check_inside()
    element = mlir.ir.Type.parse(dtype.mlir)
    if not shape and dtype.value_bits < dtype.bits:
        raise TilecError(f"{dtype!r} has no scalars; legal: tiles of rank 1 or more")
    return mlir.ir.RankedTensorType.get(list(shape), element) if shape else element


def constant(number: bool | int | float, dtype: type[DType], shape: Shape = ()) -> Any:
    """An `arith.constant` whose elements all are `number`.

    Raises:
        TilecError: if the type does not hold the number.
    """
    type_ = type_of(dtype, shape)
    if dtype.value_bits < dtype.bits:
        return _constant_in_bytes(float(number), type_)
    attribute = _number(number, dtype)
    if shape:
        attribute = mlir.ir.DenseElementsAttr.get_splat(type_, attribute)
    return emit(ops.arith.constant, type_, attribute)


def _constant_in_bytes(number: float, type_: Any) -> Any:
    """A tile of one number, of floats that MLIR has no constants of."""
    f32 = mlir.ir.F32Type.get()
    wide = mlir.ir.RankedTensorType.get(type_.shape, f32)
    splat = mlir.ir.DenseElementsAttr.get_splat(wide, mlir.ir.FloatAttr.get(f32, number))
    attributes = {"fn": text("arith.truncf")}
    return result("tile.cast", [emit(ops.arith.constant, wide, splat)], type_, attributes)


def _number(number: bool | int | float, dtype: type[DType]) -> Any:
    type_ = type_of(dtype)
    if dtype.kind == "float":
        return mlir.ir.FloatAttr.get(type_, float(number))
    if isinstance(number, float):
        raise TilecError(f"{number} does not fit {dtype!r}; cast the tile to a float first")
    low = -(1 << (dtype.bits - 1)) if dtype.kind in ("int", "index") else 0
    high = low + (1 << dtype.bits) - 1
    if not low <= number <= high:
        raise TilecError(f"{number} does not fit {dtype!r}: an integer from {low} to {high}")
    signed = number - (1 << dtype.bits) if number >= 1 << (dtype.bits - 1) else number
    if dtype.kind == "bool":
        return mlir.ir.BoolAttr.get(bool(number))
    return mlir.ir.IntegerAttr.get(type_, int(signed))


def i64(number: int) -> Any:
    """An attribute of type i64."""
    return mlir.ir.IntegerAttr.get(mlir.ir.IntegerType.get_signless(64), number)


def i64s(numbers: Sequence[int]) -> Any:
    """An attribute of several i64."""
    return mlir.ir.DenseI64ArrayAttr.get(list(numbers))


def i32s(numbers: Sequence[int]) -> Any:
    """An attribute of several i32."""
    return mlir.ir.DenseI32ArrayAttr.get(list(numbers))


def text(string: str) -> Any:
    """An attribute of text."""
    return mlir.ir.StringAttr.get(string)


def flag(value: bool) -> Any:
    """An attribute that is true or false."""
    return mlir.ir.BoolAttr.get(value)


def unit() -> Any:
    """An attribute that is there."""
    return mlir.ir.UnitAttr.get()
