"""Sine and cosine of any f32, within three units of the last place.

An argument is taken modulo a right angle by integers: its 24 bits times those 96 bits of 2/pi that
count, which leaves the quarter of the circle and 62 bits of where in it (Payne and Hanek, 1983).
"""

from __future__ import annotations

from itertools import pairwise
from math import factorial, pi

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith

from .scalars import Scalars

_MANTISSA = 23
_WORD = 32
_WORDS = 8
_EDGE = pi / 4


def two_over_pi(bits: int) -> int:
    """The first bits of 2/pi after the point, by Machin's formula in integers."""
    one = 1 << (bits + 64)

    def arctangent(of: int) -> int:
        total, term, at, sign = 0, one // of, 1, 1
        while term:
            total += sign * (term // at)
            term //= of * of
            at, sign = at + 2, -sign
        return total

    quarter = 4 * arctangent(5) - arctangent(239)  # pi / 4
    return (one * one // (2 * quarter)) >> 64


_BITS = two_over_pi(_WORD * (_WORDS - 1))
_TABLE = [0] + [(_BITS >> _WORD * (_WORDS - 2 - at)) & 0xFFFFFFFF for at in range(_WORDS - 1)]
"""32 zeros, then 2/pi, in words: the window of the least arguments begins before the point."""


class _Reduction:
    """`x` as a quarter of the circle and an angle from -pi/4 to pi/4.

    Attributes:
        quarter: its number, of which the last two bits count, i32.
        angle: the rest.
    """

    def __init__(self, s: Scalars, magnitude: Value) -> None:
        self._s = s
        self._i64 = ir.IntegerType.get_signless(64)
        bits = s.bits(magnitude)
        exponent = s.on_bits(arith.shrui, bits, _MANTISSA)
        mantissa = s.on_bits(arith.andi, bits, (1 << _MANTISSA) - 1)
        mantissa = s.on_bits(arith.ori, mantissa, 1 << _MANTISSA)
        # x = mantissa * 2^E, E = exponent - 150; what lies left of bit E - 1 of 2/pi gives turns.
        start = s.on_bits(arith.subi, exponent, 150 + 1 + 1 - _WORD)
        product = self._product(mantissa, self._window(start))
        near = s.less(magnitude, _EDGE)
        fraction = arith.shli(product, self._wide(2))
        top = arith.trunci(arith.shrui(product, self._wide(62)), s.bits(magnitude).type)
        rounded = arith.trunci(arith.shrui(fraction, self._wide(63)), top.type)
        self.quarter = s.pick(near, s.integer(0), arith.addi(top, rounded))
        turned = arith.sitofp(fraction, magnitude.type)
        self.angle = s.pick(near, magnitude, s.mul(turned, s.number(pi / 2 * 2.0**-64)))

    def _wide(self, value: int) -> Value:
        return arith.integer(self._i64, value)

    def _window(self, start: Value) -> list[Value]:
        """Three words of the table from a bit on, as i64."""
        s = self._s
        word = s.on_bits(arith.shrui, start, 5)
        shift = arith.extui(s.on_bits(arith.andi, start, _WORD - 1), self._i64)
        held = [self._word(word, further) for further in range(4)]
        found: list[Value] = []
        for high, low in pairwise(held):
            pair = arith.ori(arith.shli(high, self._wide(_WORD)), low)
            moved = arith.shrui(arith.shli(pair, shift), self._wide(_WORD))
            found.append(moved)
        return found

    def _word(self, word: Value, further: int) -> Value:
        """The word `word + further` of the table."""
        found = self._wide(_TABLE[further])
        for at in range(1, _WORDS - 3):
            here = arith.cmpi(arith.CmpI.EQ, word, self._s.integer(at))
            found = arith.select(here, self._wide(_TABLE[at + further]), found)
        return found

    def _product(self, mantissa: Value, window: list[Value]) -> Value:
        """The first 64 of the last 96 bits of the product."""
        m, word = arith.extui(mantissa, self._i64), self._wide(_WORD)
        high, middle, low = window
        lower = arith.shrui(arith.muli(m, low), word)
        lower = arith.addi(arith.muli(m, middle), lower)
        upper = arith.addi(arith.muli(m, high), arith.shrui(lower, word))
        lower = arith.andi(lower, self._wide(0xFFFFFFFF))
        return arith.ori(arith.shli(upper, word), lower)


def sin(s: Scalars, x: Value) -> Value:
    """The sine."""
    magnitude = s.magnitude(x)
    reduced = _Reduction(s, magnitude)
    sign = s.on_bits(arith.andi, s.bits(x), -(1 << 31))
    return _turned(s, x, reduced.angle, reduced.quarter, sign)


def cos(s: Scalars, x: Value) -> Value:
    """The cosine: the sine a quarter further."""
    reduced = _Reduction(s, s.magnitude(x))
    quarter = s.on_bits(arith.addi, reduced.quarter, 1)
    return _turned(s, x, reduced.angle, quarter, s.integer(0))


def _turned(s: Scalars, x: Value, angle: Value, quarter: Value, sign: Value) -> Value:
    """The sine of an angle and so many quarters, with a sign; NaN of what is not finite."""
    square = s.mul(angle, angle)
    series = s.polynomial(square, [(-1) ** n / factorial(2 * n + 1) for n in range(1, 5)])
    sine = s.fma(s.mul(angle, square), series, angle)
    series = s.polynomial(square, [(-1) ** n / factorial(2 * n) for n in range(2, 6)])
    begun = s.fma(square, s.number(-0.5), s.number(1.0))
    cosine = s.fma(s.mul(square, square), series, begun)
    odd = arith.trunci(quarter, ir.IntegerType.get_signless(1))
    value = s.pick(odd, cosine, sine)
    half = s.on_bits(arith.shli, s.on_bits(arith.andi, quarter, 2), 30)
    value = s.of_bits(arith.xori(s.bits(value), arith.xori(half, sign)))
    finite = s.less(s.magnitude(x), float("inf"))
    return s.pick(finite, value, s.sub(x, x))
