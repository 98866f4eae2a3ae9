"""Operators on tiles: arithmetic, comparison, logic, choice."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from tilec.ir import mlir
from tilec.isa import TilecError

from .casts import astype, check_computed, matched
from .dtypes import bool_, float32, intp
from .emit import approximate, constant, i64, result, type_of
from .shapes import broadcast_shape, broadcast_to, full
from .tile import Operand, Tile

_INT = ("int", "uint", "index")
_OPS = MappingProxyType(
    {
        # numpy's name: upstream's op by kind of element
        "add": {"float": "addf", "int": "addi", "uint": "addi", "index": "addi"},
        "subtract": {"float": "subf", "int": "subi", "uint": "subi", "index": "subi"},
        "multiply": {"float": "mulf", "int": "muli", "uint": "muli", "index": "muli"},
        "divide": {"float": "divf"},
        "bitwise_and": {"bool": "andi", "int": "andi", "uint": "andi", "index": "andi"},
        "bitwise_or": {"bool": "ori", "int": "ori", "uint": "ori", "index": "ori"},
        "bitwise_xor": {"bool": "xori", "int": "xori", "uint": "xori", "index": "xori"},
        "left_shift": {"int": "shli", "uint": "shli", "index": "shli"},
        "right_shift": {"int": "shrsi", "uint": "shrui", "index": "shrui"},
        "maximum": {"float": "maximumf", "int": "maxsi", "uint": "maxui", "index": "maxsi"},
        "minimum": {"float": "minimumf", "int": "minsi", "uint": "minui", "index": "minsi"},
        "fmax": {"float": "maxnumf", "int": "maxsi", "uint": "maxui", "index": "maxsi"},
        "fmin": {"float": "minnumf", "int": "minsi", "uint": "minui", "index": "minsi"},
    }
)
_COMPARISONS = MappingProxyType(
    {
        # predicates of cmpf, and of cmpi with and without sign
        "equal": (1, 0, 0),
        "not_equal": (13, 1, 1),
        "less": (4, 2, 6),
        "less_equal": (5, 3, 7),
        "greater": (2, 4, 8),
        "greater_equal": (3, 5, 9),
    }
)
_ADVICE = MappingProxyType(
    {
        "divide": "use // on integers, or cast to a float",
        "left_shift": "shifts take integers",
        "right_shift": "shifts take integers",
        "bitwise_and": "takes integers and truth values; compare first, as in (x > 0) & (y > 0)",
        "bitwise_or": "takes integers and truth values; compare first, as in (x > 0) | (y > 0)",
        "bitwise_xor": "takes integers and truth values",
    }
)
_KEEP_NATURAL = ("add", "multiply", "floor_divide", "remainder", "maximum", "minimum")


def binary(name: str, left: Any, right: Any) -> Tile:
    """The function of numpy called `name`, of two operands, after broadcasting.

    Raises:
        TilecError: if their types or shapes do not fit.
    """
    if isinstance(left, Tile) and _changes_nothing(name, left, right):
        return left
    one, other = matched(left, right, name)
    if name in _COMPARISONS:
        return _compared(name, one, other)
    check_computed(one, name)
    natural = one.natural and other.natural and name in _KEEP_NATURAL
    if name == "floor_divide":
        return _floor_divided(one, other, natural)
    if name == "remainder":
        return _remainder(one, other, natural)
    if name == "power":
        return _power(left, right, one, other)
    kinds = _OPS[name]
    if one.dtype.kind not in kinds:
        advice = _ADVICE.get(name, "cast first, as by .astype(tl.int32)")
        raise TilecError(f"no {name} of {one.dtype!r}: {advice}")
    op = kinds[one.dtype.kind]
    if natural and op in ("maxsi", "minsi"):
        op = op.replace("si", "ui")
    return _op(f"arith.{op}", one, other, natural=natural)


def _changes_nothing(name: str, left: Tile, right: Any) -> bool:
    """Whether an operation with a number gives its left operand, a size or place."""
    if left.dtype is not intp or type(right) is not int:
        return False
    neutral = {"add": 0, "subtract": 0, "multiply": 1, "floor_divide": 1}
    return neutral.get(name) == right


def _op(name: str, *operands: Tile, natural: bool = False) -> Tile:
    first = operands[0]
    value = result(name, [o.value for o in operands], type_of(first.dtype, first.shape))
    return Tile(value, first.dtype, first.shape, natural=natural)


def _compared(name: str, one: Tile, other: Tile) -> Tile:
    check_computed(one, name)
    of_floats, signed, unsigned = _COMPARISONS[name]
    if one.dtype.kind == "float":
        op, predicate = "arith.cmpf", of_floats
    else:
        op, predicate = "arith.cmpi", signed if one.dtype.kind in ("int", "index") else unsigned
    operands = [one.value, other.value]
    value = result(op, operands, type_of(bool_, one.shape), {"predicate": i64(predicate)})
    return Tile(value, bool_, one.shape)


def _floor_divided(one: Tile, other: Tile, natural: bool) -> Tile:
    kind = one.dtype.kind
    if kind == "uint" or natural:
        one, other = _divided_once(one, other)
        return _op("arith.divui", one, other, natural=natural)
    if kind in _INT:
        quotient = _op("arith.divsi", one, other)
        return where(_rounds_up(one, other), quotient - 1, quotient)
    if kind == "float":
        from .mathematics import floor  # noqa: PLC0415 (it imports this file)

        return floor(one / other)
    raise TilecError(f"no floor_divide of {one.dtype!r}")


def _divided_once(one: Tile, other: Tile) -> tuple[Tile, Tile]:
    """`(x // a) // b` of constants a and b as `x // (a * b)`."""
    first = one.value.owner
    if one.dtype is not intp or getattr(first, "name", "") != "arith.divui":
        return one, other
    inner, outer = _constant(first.operands[1]), _constant(other.value)
    if inner is None or outer is None:
        return one, other
    divisor = Tile(constant(inner * outer, intp), intp, natural=True)
    return Tile(first.operands[0], intp, natural=True), divisor


def _constant(value: Any) -> int | None:
    """The integer that an MLIR value is known to be."""
    owner = value.owner
    if getattr(owner, "name", "") != "arith.constant":
        return None
    return int(mlir.ir.IntegerAttr(owner.attributes["value"]).value)


def _remainder(one: Tile, other: Tile, natural: bool) -> Tile:
    kind = one.dtype.kind
    if kind == "uint" or natural:
        return _op("arith.remui", one, other, natural=natural)
    if kind in _INT:
        rest = _op("arith.remsi", one, other)
        return where(_rounds_up(one, other), rest + other, rest)
    raise TilecError(f"no remainder of {one.dtype!r}; for floats use x - tl.floor(x / y) * y")


def _rounds_up(one: Tile, other: Tile) -> Tile:
    """Whether division toward zero rounds up: signs differ and something is left."""
    rest = _op("arith.remsi", one, other)
    return (rest != 0) & ((rest ^ other) < 0)


def _power(left: Any, right: Any, one: Tile, other: Tile) -> Tile:
    if isinstance(right, int) and not isinstance(right, bool) and 1 <= right <= 4:
        product = left
        for _ in range(right - 1):
            product = binary("multiply", product, left)
        assert isinstance(product, Tile)
        return product
    if one.dtype.kind != "float":
        raise TilecError(f"no power of {one.dtype!r} but the 1st to 4th; cast to a float first")
    operands = [one.value, other.value]
    type_ = type_of(one.dtype, one.shape)
    return Tile(result("math.powf", operands, type_, approximate()), one.dtype, one.shape)


def negative(tile: Tile) -> Tile:
    """`-tile`."""
    check_computed(tile, "negative")
    if tile.dtype.kind == "float":
        return _op("arith.negf", tile)
    return 0 - tile


def invert(tile: Tile) -> Tile:
    """`~tile`: each bit, or truth value, inverted."""
    if tile.dtype.kind == "float":
        raise TilecError(f"no invert of {tile.dtype!r}")
    return tile ^ (
        1 if tile.dtype is bool_ else -1 if tile.dtype.kind == "int" else (1 << tile.dtype.bits) - 1
    )


def absolute(tile: Tile) -> Tile:
    """`abs(tile)`."""
    check_computed(tile, "absolute")
    if tile.dtype.kind in ("uint", "bool"):
        return tile
    return _op("math.absf" if tile.dtype.kind == "float" else "math.absi", tile)


def where(condition: Tile | bool, x: Operand, y: Operand) -> Tile:
    """Elements of `x` where `condition` holds, of `y` elsewhere; all broadcast together."""
    if not isinstance(x, Tile) and not isinstance(y, Tile):
        y = full((), y, float32 if isinstance(x, float) else None)
    one, other = matched(x, y, "where")
    if isinstance(condition, bool):
        return one if condition else other
    condition = astype(condition, bool_)
    shape = broadcast_shape(condition.shape, one.shape)
    one, other = broadcast_to(one, shape), broadcast_to(other, shape)
    # a scalar condition chooses whole tiles
    if condition.shape:
        condition = broadcast_to(condition, shape)
    operands = [condition.value, one.value, other.value]
    value = result("arith.select", operands, type_of(one.dtype, shape))
    return Tile(value, one.dtype, shape, natural=one.natural and other.natural)


def maximum(x: Operand, y: Operand) -> Tile:
    """The larger of two, element by element; NaN where one is."""
    return binary("maximum", x, y)


def minimum(x: Operand, y: Operand) -> Tile:
    """The smaller of two, element by element; NaN where one is."""
    return binary("minimum", x, y)


def fmax(x: Operand, y: Operand) -> Tile:
    """The larger of two, element by element; the other where one is NaN."""
    return binary("fmax", x, y)


def fmin(x: Operand, y: Operand) -> Tile:
    """The smaller of two, element by element; the other where one is NaN."""
    return binary("fmin", x, y)


def clip(x: Tile, low: Operand, high: Operand) -> Tile:
    """`x`, no smaller than `low` and no larger than `high`."""
    return minimum(maximum(x, low), high)
