"""Sine and cosine of any f64, within a unit or two of the last place.

An argument is taken modulo a right angle by integers: its 53 bits times those 192 bits of 2/pi that
count, which leaves the quarter of the circle and 126 bits of where in it (Payne and Hanek, 1983).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import factorial

from tilec.ir.aliases import Value
from tilec.ir.ops import arith

from .doubles import MANTISSA, Double, Doubles
from .trigonometry import Angle, two_over_pi

_WORD = 64
_WORDS = 20
_BITS = two_over_pi(_WORD * (_WORDS - 1))
_ALL = (1 << _WORD) - 1
_TABLE = [0] + [(_BITS >> _WORD * (_WORDS - 2 - at)) & _ALL for at in range(_WORDS - 1)]
"""64 zeros, then 2/pi, in words: the window of the least arguments begins before the point."""
_RIGHT_ANGLE = Fraction(1 << (2 * _WORD), two_over_pi(2 * _WORD))
_SINE = [Fraction((-1) ** n, factorial(2 * n + 1)) for n in range(1, 9)]
_COSINE = [Fraction((-1) ** n, factorial(2 * n)) for n in range(2, 10)]


class _Double(Angle[Doubles]):
    """Of an f64."""

    word = _WORD
    mantissa = MANTISSA
    bias = 1023 + MANTISSA

    def window(self, start: Value) -> list[Value]:
        """The words as i64."""
        s = self.s
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

    def product(self, mantissa: Value, window: list[Value]) -> Value:
        """By integers of 128 bits."""
        m = arith.extui(mantissa, self.wide)
        high, middle, low = (arith.extui(word, self.wide) for word in window)
        word = self.integer(_WORD)
        lower = arith.shrui(arith.muli(m, low), word)
        lower = arith.addi(arith.muli(m, middle), lower)
        return arith.addi(arith.shli(arith.muli(m, high), word), lower)

    def take(self, near: Value, magnitude: Value, fraction: Value) -> None:
        """As a sum of two."""
        s = self.s
        turned = self._converted(fraction)
        self._angle = Double(
            s.pick(near, magnitude, turned.high), s.pick(near, s.number(0.0), turned.low)
        )

    def _converted(self, fraction: Value) -> Double:
        """An i128 with a sign, 2^128 of which are a right angle, as an angle."""
        s = self.s
        high = self.narrow(arith.shrsi(fraction, self.integer(_WORD)))
        low = self.narrow(fraction)
        # In three parts, of 53, 11 and 64 bits, of which the first two are exact.
        first = s.of_integer(s.on_bits(arith.andi, high, -(1 << 11)))
        second = s.of_integer(s.on_bits(arith.andi, high, (1 << 11) - 1))
        third = arith.uitofp(low, first.type)
        rest = s.fma(third, s.number(2.0**-_WORD), second)
        part = s.joined(first, rest)
        angle = s.times(part, s.exactly(_RIGHT_ANGLE))
        return Double(*(s.mul(each, s.number(2.0**-_WORD)) for each in angle))

    def functions(self) -> tuple[Value, Value]:
        """By Taylor's series, to which the low part of the angle is added."""
        s = self.s
        high, low = self._angle
        square = s.mul(high, high)
        half = s.mul(square, s.number(0.5))
        begun = s.sub(s.number(1.0), half)
        series = s.mul(s.mul(high, square), s.series(square, _SINE))
        sine = s.add(high, s.fma(low, begun, series))
        series = s.mul(s.mul(square, square), s.series(square, _COSINE))
        lost = s.sub(s.sub(s.number(1.0), begun), half)
        return sine, s.add(begun, s.add(lost, s.fma(s.minus(high), low, series)))


def _signed(word: int) -> int:
    return word - (1 << _WORD) if word >> (_WORD - 1) else word


def sin(s: Doubles, x: Value) -> Value:
    """The sine."""
    return _Double(s, x).sine()


def cos(s: Doubles, x: Value) -> Value:
    """The cosine."""
    return _Double(s, x).cosine()
