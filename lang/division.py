"""Divisions of integers, defined for every divisor.

To LLVM a division by zero, or of the least integer by -1, is undefined: it takes the divisor for
another number, and drops whatever asks for it. But a kernel does compute such quotients, to choose
others by `where` or `and`, and in the padding of tiles. So `x // 0` and `x % 0` are 0, as in numpy,
and the quotient of the least integer by -1 wraps.
"""

from __future__ import annotations

from tilec.isa import TilecError

from .dtypes import intp
from .elementwise import apply, where
from .emit import constant
from .known import at_least, number_of
from .tile import Tile

_INTEGERS = ("int", "uint", "index")


def floor_divide(one: Tile, other: Tile) -> Tile:
    """`one // other` of one type and shape: rounded down, of floats as well.

    Raises:
        TilecError: for elements that do not divide.
    """
    if one.dtype.kind == "float":
        return apply("math.floor", apply("arith.divf", one, other))
    if one.dtype.kind not in _INTEGERS:
        raise TilecError(f"floor_divide does not take {one.dtype!r}")
    if _is_unsigned(one, other):
        return _unsigned_quotient(one, other)
    if number_of(other) == -1:
        return 0 - one
    divisor, is_edge = _signed_divisor(other)
    quotient = _floor_quotient(one, divisor)
    # Of the two divisors that are left out, the product is the quotient.
    return quotient if is_edge is None else where(is_edge, one * other, quotient)


def remainder(one: Tile, other: Tile) -> Tile:
    """`one % other` of one type and shape, of the sign of `other`.

    Raises:
        TilecError: for elements that have none.
    """
    if one.dtype.kind not in _INTEGERS:
        raise TilecError(
            f"remainder does not take {one.dtype!r}; for floats use x - tl.floor(x / y) * y"
        )
    if _is_unsigned(one, other):
        natural = one.natural and other.natural
        return apply("arith.remui", one, _positive(other), natural=natural)
    divisor, _ = _signed_divisor(other)
    rest = apply("arith.remsi", one, divisor)  # by 1 it is 0, as it is by 0 and -1
    return where(_rounds_up(rest, divisor), rest + divisor, rest)


def _is_unsigned(one: Tile, other: Tile) -> bool:
    return one.dtype.kind == "uint" or (one.natural and other.natural)


def _unsigned_quotient(one: Tile, other: Tile) -> Tile:
    natural = one.natural and other.natural
    one, other = _divide_once(one, other)
    quotient = apply("arith.divui", one, _positive(other), natural=natural)
    return quotient if _is_positive(other) else where(other == 0, 0, quotient)


def _divide_once(one: Tile, other: Tile) -> tuple[Tile, Tile]:
    """`(x // a) // b` of constants a and b as `x // (a * b)`."""
    first = one.value.owner
    if one.dtype is not intp or getattr(first, "name", "") != "arith.divui":
        return one, other
    inner = number_of(Tile(first.operands[1], intp))
    outer = number_of(other)
    if not inner or not outer or inner * outer >= 1 << (intp.bits - 1):
        return one, other
    divisor = Tile(constant(inner * outer, intp), intp, natural=True)
    return Tile(first.operands[0], intp, natural=True), divisor


def _is_positive(divisor: Tile) -> bool:
    least = at_least(divisor)
    return least is not None and least > 0


def _positive(divisor: Tile) -> Tile:
    """A divisor without sign, or 1 for 0."""
    return divisor if _is_positive(divisor) else apply("arith.maxui", divisor, _like(1, divisor))


def _signed_divisor(divisor: Tile) -> tuple[Tile, Tile | None]:
    """A divisor, or 1 for 0 and -1; where it is one of these, None if nowhere."""
    number = number_of(divisor)
    if _is_positive(divisor) or (number is not None and number not in (0, -1)):
        return divisor, None
    is_edge = (divisor == 0) | (divisor == -1)
    return where(is_edge, _like(1, divisor), divisor), is_edge


def _like(number: int, tile: Tile) -> Tile:
    natural = tile.dtype is intp
    return Tile(constant(number, tile.dtype, tile.shape), tile.dtype, tile.shape, natural=natural)


def _floor_quotient(one: Tile, divisor: Tile) -> Tile:
    quotient, rest = apply("arith.divsi", one, divisor), apply("arith.remsi", one, divisor)
    return where(_rounds_up(rest, divisor), quotient - 1, quotient)


def _rounds_up(rest: Tile, divisor: Tile) -> Tile:
    """Whether division toward zero rounds up: signs differ and something is left."""
    return (rest != 0) & ((rest ^ divisor) < 0)
