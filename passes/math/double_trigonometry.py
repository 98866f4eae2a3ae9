"""Sine and cosine of any f64, within a unit or two of the last place.

An argument is taken modulo a right angle by integers: its 53 bits times those 192 bits of 2/pi that
count, which leaves the quarter of the circle and 126 bits of where in it (Payne and Hanek, 1983).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import factorial, pi

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith

from .doubles import MANTISSA, Double, Doubles
from .trigonometry import two_over_pi

_WORD = 64
_WORDS = 20
_BIAS = 1023 + MANTISSA
_BITS = two_over_pi(_WORD * (_WORDS - 1))
_ALL = (1 << _WORD) - 1
_TABLE = [0] + [(_BITS >> _WORD * (_WORDS - 2 - at)) & _ALL for at in range(_WORDS - 1)]
"""64 zeros, then 2/pi, in words: the window of the least arguments begins before the point."""
_RIGHT_ANGLE = Fraction(1 << (2 * _WORD), two_over_pi(2 * _WORD))
_SINE = [Fraction((-1) ** n, factorial(2 * n + 1)) for n in range(1, 9)]
_COSINE = [Fraction((-1) ** n, factorial(2 * n)) for n in range(2, 10)]


class _Reduction:
    """`x` as a quarter of the circle and an angle from -pi/4 to pi/4.

    Attributes:
        quarter: its number, of which the last two bits count, i64.
        angle: the rest.
    """

    def __init__(self, s: Doubles, magnitude: Value) -> None:
        self._s = s
        self._wide = ir.IntegerType.get_signless(2 * _WORD)
        bits = s.bits(magnitude)
        exponent = s.on_bits(arith.shrui, bits, MANTISSA)
        mantissa = s.on_bits(arith.andi, bits, (1 << MANTISSA) - 1)
        mantissa = s.on_bits(arith.ori, mantissa, 1 << MANTISSA)
        # x = mantissa * 2^E, E = exponent - 1075; what lies left of bit E - 1 of 2/pi gives turns.
        start = s.on_bits(arith.subi, exponent, _BIAS + 1 + 1 - _WORD)
        product = self._product(mantissa, self._window(start))
        near = s.less(magnitude, pi / 4)
        fraction = arith.shli(product, self._integer(2))
        top = self._narrow(arith.shrui(product, self._integer(126)))
        rounded = self._narrow(arith.shrui(fraction, self._integer(127)))
        self.quarter = s.pick(near, s.integer(0), arith.addi(top, rounded))
        turned = self._turned(fraction)
        self.angle = Double(
            s.pick(near, magnitude, turned.high), s.pick(near, s.number(0.0), turned.low)
        )

    def _integer(self, value: int) -> Value:
        return arith.integer(self._wide, value)

    def _narrow(self, value: Value) -> Value:
        return arith.trunci(value, ir.IntegerType.get_signless(_WORD))

    def _window(self, start: Value) -> list[Value]:
        """Three words of the table from a bit on."""
        s = self._s
        word = s.on_bits(arith.shrui, start, 6)
        shift = s.on_bits(arith.andi, start, _WORD - 1)
        held: list[Value] = [s.integer(_signed(each)) for each in _TABLE]
        for bit in (4, 3, 2, 1, 0):  # of the word's number, to which the table is moved
            step, left = 1 << bit, 4 + (1 << bit) - 1
            there = s.test_bits(arith.CmpI.NE, s.on_bits(arith.andi, word, step), 0)
            held = [
                s.pick(there, held[at + step], held[at]) if at + step < len(held) else held[at]
                for at in range(min(left, len(held)))
            ]
        back = arith.subi(s.integer(_WORD - 1), shift)
        return [
            arith.ori(arith.shli(high, shift), arith.shrui(s.on_bits(arith.shrui, low, 1), back))
            for high, low in pairwise(held)
        ]

    def _product(self, mantissa: Value, window: list[Value]) -> Value:
        """The first 128 of the last 192 bits of the product."""
        m = arith.extui(mantissa, self._wide)
        high, middle, low = (arith.extui(word, self._wide) for word in window)
        word = self._integer(_WORD)
        lower = arith.shrui(arith.muli(m, low), word)
        lower = arith.addi(arith.muli(m, middle), lower)
        return arith.addi(arith.shli(arith.muli(m, high), word), lower)

    def _turned(self, fraction: Value) -> Double:
        """An i128 with a sign, 2^128 of which are a right angle, as an angle."""
        s = self._s
        high = self._narrow(arith.shrsi(fraction, self._integer(_WORD)))
        low = self._narrow(fraction)
        # In three parts, of 53, 11 and 64 bits, of which the first two are exact.
        first = s.of_integer(s.on_bits(arith.andi, high, -(1 << 11)))
        second = s.of_integer(s.on_bits(arith.andi, high, (1 << 11) - 1))
        third = arith.uitofp(low, first.type)
        rest = s.fma(third, s.number(2.0**-_WORD), second)
        part = s.joined(first, rest)
        angle = s.times(part, s.exactly(_RIGHT_ANGLE))
        return Double(*(s.mul(each, s.number(2.0**-_WORD)) for each in angle))


def _signed(word: int) -> int:
    return word - (1 << _WORD) if word >> (_WORD - 1) else word


def sin(s: Doubles, x: Value) -> Value:
    """The sine."""
    reduced = _Reduction(s, s.magnitude(x))
    sign = s.on_bits(arith.andi, s.bits(x), -(1 << 63))
    return _turned(s, x, reduced.angle, reduced.quarter, sign)


def cos(s: Doubles, x: Value) -> Value:
    """The cosine: the sine a quarter further."""
    reduced = _Reduction(s, s.magnitude(x))
    quarter = s.on_bits(arith.addi, reduced.quarter, 1)
    return _turned(s, x, reduced.angle, quarter, s.integer(0))


def _turned(s: Doubles, x: Value, angle: Double, quarter: Value, sign: Value) -> Value:
    """The sine of an angle and so many quarters, with a sign; NaN of what is not finite."""
    high, low = angle
    square = s.mul(high, high)
    half = s.mul(square, s.number(0.5))
    begun = s.sub(s.number(1.0), half)
    series = s.mul(s.mul(high, square), s.series(square, _SINE))
    sine = s.add(high, s.fma(low, begun, series))
    series = s.mul(s.mul(square, square), s.series(square, _COSINE))
    lost = s.sub(s.sub(s.number(1.0), begun), half)
    cosine = s.add(begun, s.add(lost, s.fma(s.minus(high), low, series)))
    odd = arith.trunci(quarter, ir.IntegerType.get_signless(1))
    value = s.pick(odd, cosine, sine)
    turned = s.on_bits(arith.shli, s.on_bits(arith.andi, quarter, 2), 62)
    value = s.of_bits(arith.xori(s.bits(value), arith.xori(turned, sign)))
    finite = s.less(s.magnitude(x), float("inf"))
    return s.pick(finite, value, s.sub(x, x))
