"""Operators on tiles: arithmetic, logic, comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.ir import ops
from tilec.isa import TilecError

from .casts import check_computed, match_types
from .comparisons import compare_any
from .division import floor_divide, remainder
from .dtypes import intp, limits
from .elementwise import COMPARISONS, apply, where
from .emit import emit
from .shifts import left_shift, right_shift
from .tile import Operand, Tile

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
        "maximum": {"float": "maximumf", "int": "maxsi", "uint": "maxui", "index": "maxsi"},
        "minimum": {"float": "minimumf", "int": "minsi", "uint": "minui", "index": "minsi"},
        "fmax": {"float": "maxnumf", "int": "maxsi", "uint": "maxui", "index": "maxsi"},
        "fmin": {"float": "minnumf", "int": "minsi", "uint": "minui", "index": "minsi"},
    }
)
_ADVICE = MappingProxyType(
    {
        "divide": "use // on integers, or cast to a float",
        "bitwise_and": "takes integers and truth values; compare first, as in (x > 0) & (y > 0)",
        "bitwise_or": "takes integers and truth values; compare first, as in (x > 0) | (y > 0)",
        "bitwise_xor": "takes integers and truth values",
    }
)
_KEEP_NATURAL = ("add", "multiply", "maximum", "minimum")
_DEFINED: Mapping[str, Callable[[Tile, Tile], Tile]] = MappingProxyType(
    {
        "floor_divide": floor_divide,
        "remainder": remainder,
        "left_shift": left_shift,
        "right_shift": right_shift,
    }
)
"""Operations that upstream's ops leave undefined for some operands."""


def binary(name: str, left: Operand, right: Operand) -> Tile:
    """The function of numpy called `name`, of two operands, after broadcasting.

    Raises:
        TilecError: if their types or shapes do not fit.
    """
    if isinstance(left, Tile) and _changes_nothing(name, left, right):
        return left
    if name in COMPARISONS:
        return compare_any(name, left, right)
    one, other = match_types(left, right, name)
    check_computed(one, name)
    if name == "power":
        return _power(right, one, other)
    if name in _DEFINED:
        return _DEFINED[name](one, other)
    natural = one.natural and other.natural and name in _KEEP_NATURAL
    kinds = _OPS[name]
    if one.dtype.kind not in kinds:
        advice = _ADVICE.get(name, "cast first, as by .astype(tl.int32)")
        raise TilecError(f"{name} does not take {one.dtype!r}: {advice}")
    op = kinds[one.dtype.kind]
    if natural and op in ("maxsi", "minsi"):
        op = op.replace("si", "ui")
    return apply(f"arith.{op}", one, other, natural=natural)


def _changes_nothing(name: str, left: Tile, right: Operand) -> bool:
    """Whether an operation with a number gives its left operand, a size or place."""
    if left.dtype is not intp or type(right) is not int:
        return False
    neutral = {"add": 0, "subtract": 0, "multiply": 1, "floor_divide": 1}
    return neutral.get(name) == right


def _power(right: Operand, one: Tile, other: Tile) -> Tile:
    if isinstance(right, int) and not isinstance(right, bool) and 1 <= right <= 4:
        product = one
        for _ in range(right - 1):
            product = binary("multiply", product, one)
        return product
    if one.dtype.kind != "float":
        raise TilecError(
            f"power takes {one.dtype!r} only with exponents 1 to 4: cast to a float first"
        )
    return Tile(emit(ops.math.powf, one.value, other.value), one.dtype, one.shape)


def negative(tile: Tile) -> Tile:
    """`-tile`."""
    check_computed(tile, "negative")
    if tile.dtype.kind == "float":
        return apply("arith.negf", tile)
    return 0 - tile


def invert(tile: Tile) -> Tile:
    """`~tile`: each bit, or truth value, inverted."""
    if tile.dtype.kind == "float":
        raise TilecError(f"invert does not take {tile.dtype!r}")
    has_sign = tile.dtype.kind in ("int", "index")
    return tile ^ (-1 if has_sign else limits(tile.dtype)[1])


def absolute(tile: Tile) -> Tile:
    """`abs(tile)`; that of the least integer is itself, as in numpy."""
    check_computed(tile, "absolute")
    if tile.dtype.kind in ("uint", "bool") or tile.natural:
        return tile
    if tile.dtype.kind == "index":
        return where(tile < 0, 0 - tile, tile)
    return apply("math.absf" if tile.dtype.kind == "float" else "math.absi", tile)


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
