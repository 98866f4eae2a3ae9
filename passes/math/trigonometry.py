"""Sine and cosine of any f32, within three units of the last place.

An argument is taken modulo a right angle by integers: its 24 bits times those 96 bits of 2/pi that
count, which leaves the quarter of the circle and 62 bits of where in it (Payne and Hanek, 1983).
Of an f64 `double_trigonometry` does the same with words of twice as many bits.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from math import factorial, pi
from typing import ClassVar, Generic, TypeVar

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith

from .scalars import Scalars

S = TypeVar("S", bound=Scalars)
_WORD = 32
_WORDS = 8


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


class Angle(ABC, Generic[S]):
    """`x` as a quarter of the circle and an angle from -pi/4 to pi/4; sine and cosine of it.

    Attributes:
        word: bits of `x`.
        mantissa: those of its fraction.
        bias: the exponent that stands for a mantissa as it is.
    """

    word: ClassVar[int]
    mantissa: ClassVar[int]
    bias: ClassVar[int]

    def __init__(self, s: S, x: Value) -> None:
        self.s, self._x = s, x
        self.wide = ir.IntegerType.get_signless(2 * self.word)
        magnitude = s.magnitude(x)
        bits = s.bits(magnitude)
        exponent = s.on_bits(arith.shrui, bits, self.mantissa)
        mantissa = s.on_bits(arith.andi, bits, (1 << self.mantissa) - 1)
        mantissa = s.on_bits(arith.ori, mantissa, 1 << self.mantissa)
        # x = mantissa * 2^E, E = exponent - bias; what lies left of bit E - 1 of 2/pi gives turns.
        start = s.on_bits(arith.subi, exponent, self.bias + 1 + 1 - self.word)
        product = self.product(mantissa, self.window(start))
        near = s.less(magnitude, pi / 4)
        fraction = arith.shli(product, self.integer(2))
        top = self.narrow(arith.shrui(product, self.integer(2 * self.word - 2)))
        rounded = self.narrow(arith.shrui(fraction, self.integer(2 * self.word - 1)))
        self._quarter = s.pick(near, s.integer(0), arith.addi(top, rounded))
        self.take(near, magnitude, fraction)

    @abstractmethod
    def window(self, start: Value) -> list[Value]:
        """Three words of 2/pi, before which stands a word of zeros, from a bit on."""

    @abstractmethod
    def product(self, mantissa: Value, window: list[Value]) -> Value:
        """The first two words of the last three of the product, an integer of both."""

    @abstractmethod
    def take(self, near: Value, magnitude: Value, fraction: Value) -> None:
        """Keep the angle: the magnitude if that is near 0, else the fraction of a right angle."""

    @abstractmethod
    def functions(self) -> tuple[Value, Value]:
        """Sine and cosine of the angle."""

    def integer(self, value: int) -> Value:
        """A constant of two words."""
        return arith.integer(self.wide, value)

    def narrow(self, value: Value) -> Value:
        """The last word of two."""
        return arith.trunci(value, ir.IntegerType.get_signless(self.word))

    def sine(self) -> Value:
        """The sine of `x`."""
        sign = self.s.on_bits(arith.andi, self.s.bits(self._x), -(1 << (self.word - 1)))
        return self._turned(self._quarter, sign)

    def cosine(self) -> Value:
        """The cosine of `x`: the sine a quarter further."""
        return self._turned(self.s.on_bits(arith.addi, self._quarter, 1), self.s.integer(0))

    def _turned(self, quarter: Value, sign: Value) -> Value:
        """The sine of the angle and so many quarters; NaN of what is not finite."""
        s, x = self.s, self._x
        sine, cosine = self.functions()
        odd = arith.trunci(quarter, ir.IntegerType.get_signless(1))
        value = s.pick(odd, cosine, sine)
        half = s.on_bits(arith.shli, s.on_bits(arith.andi, quarter, 2), self.word - 2)
        value = s.of_bits(arith.xori(s.bits(value), arith.xori(half, sign)))
        finite = s.less(s.magnitude(x), float("inf"))
        return s.pick(finite, value, s.sub(x, x))


class _Single(Angle[Scalars]):
    """Of an f32."""

    word = _WORD
    mantissa = 23
    bias = 127 + 23

    def window(self, start: Value) -> list[Value]:
        """The words as i64."""
        s = self.s
        word = s.on_bits(arith.shrui, start, 5)
        shift = arith.extui(s.on_bits(arith.andi, start, _WORD - 1), self.wide)
        held = [self._word(word, further) for further in range(4)]
        found: list[Value] = []
        for high, low in pairwise(held):
            pair = arith.ori(arith.shli(high, self.integer(_WORD)), low)
            moved = arith.shrui(arith.shli(pair, shift), self.integer(_WORD))
            found.append(moved)
        return found

    def _word(self, word: Value, further: int) -> Value:
        """The word `word + further` of the table."""
        found = self.integer(_TABLE[further])
        for at in range(1, _WORDS - 3):
            here = arith.cmpi(arith.CmpI.EQ, word, self.s.integer(at))
            found = arith.select(here, self.integer(_TABLE[at + further]), found)
        return found

    def product(self, mantissa: Value, window: list[Value]) -> Value:
        """Of words that are i64."""
        m, word = arith.extui(mantissa, self.wide), self.integer(_WORD)
        high, middle, low = window
        lower = arith.shrui(arith.muli(m, low), word)
        lower = arith.addi(arith.muli(m, middle), lower)
        upper = arith.addi(arith.muli(m, high), arith.shrui(lower, word))
        lower = arith.andi(lower, self.integer(0xFFFFFFFF))
        return arith.ori(arith.shli(upper, word), lower)

    def take(self, near: Value, magnitude: Value, fraction: Value) -> None:
        """By a conversion to f32."""
        s = self.s
        turned = arith.sitofp(fraction, magnitude.type)
        self._angle = s.pick(near, magnitude, s.mul(turned, s.number(pi / 2 * 2.0**-64)))

    def functions(self) -> tuple[Value, Value]:
        """By Taylor's series."""
        s, angle = self.s, self._angle
        square = s.mul(angle, angle)
        series = s.polynomial(square, [(-1) ** n / factorial(2 * n + 1) for n in range(1, 5)])
        sine = s.fma(s.mul(angle, square), series, angle)
        series = s.polynomial(square, [(-1) ** n / factorial(2 * n) for n in range(2, 6)])
        begun = s.fma(square, s.number(-0.5), s.number(1.0))
        return sine, s.fma(s.mul(square, square), series, begun)


def sin(s: Scalars, x: Value) -> Value:
    """The sine."""
    return _Single(s, x).sine()


def cos(s: Scalars, x: Value) -> Value:
    """The cosine."""
    return _Single(s, x).cosine()
