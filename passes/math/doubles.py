"""Sums of two f64, whose 106 bits carry what functions of f64 would lose in between."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple

from tilec.ir.aliases import Value
from tilec.ir.ops import arith

from ..nvvm.lowering import Lowering
from .scalars import Scalars

MANTISSA = 52
_BIAS = 1023
_ROUND = 1.5 * 2.0**MANTISSA
"""What is added to it loses its fraction, and shows as an integer in the low bits."""
DIGITS = Context(prec=60)
"""Of constants, more than two f64 hold."""


class Double(NamedTuple):
    """A number as a sum; `low` is at most half a unit in the last place of `high`."""

    high: Value
    low: Value


class Doubles(Scalars):
    """Emits arithmetic on f64 and on sums of two."""

    def __init__(self, kernel: Lowering) -> None:
        super().__init__(kernel, fast=False, bits=64)

    def exactly(self, value: Decimal | Fraction) -> Double:
        """A constant, to 106 bits."""
        high = float(value)
        low = float(Fraction(value) - Fraction(high))
        return Double(self.number(high), self.number(low))

    def minus(self, a: Value) -> Value:
        """`-a`."""
        return self.sub(self.number(-0.0), a)

    def joined(self, high: Value, low: Value) -> Double:
        """`high + low`, of which the first is the larger."""
        total = self.add(high, low)
        return Double(total, self.sub(low, self.sub(total, high)))

    def product(self, a: Value, b: Value) -> Double:
        """`a * b`, exactly."""
        high = self.mul(a, b)
        return Double(high, self.fma(a, b, self.minus(high)))

    def times(self, a: Double, b: Double) -> Double:
        """`a * b`."""
        high, low = self.product(a.high, b.high)
        low = self.fma(a.high, b.low, self.fma(a.low, b.high, low))
        return self.joined(high, low)

    def plus(self, a: Double, b: Double) -> Double:
        """`a + b`, of which `a` is the larger, or one is 0."""
        high, low = self.joined(a.high, b.high)
        return self.joined(high, self.add(low, self.add(a.low, b.low)))

    def series(self, x: Value, coefficients: Sequence[Fraction]) -> Value:
        """A polynomial, the constant first."""
        return self.polynomial(x, [float(each) for each in coefficients])

    def rounded(self, x: Value) -> tuple[Value, Value]:
        """The nearest whole number, of up to 2^50, as a float and as an integer."""
        large = self.number(_ROUND)
        moved = self.add(x, large)
        return self.sub(moved, large), arith.subi(self.bits(moved), self.bits(large))

    def scaled(self, value: Value, exponent: Value) -> Value:
        """`value * 2^exponent`, in two steps, as the result may be a subnormal number."""
        half = self.on_bits(arith.shrsi, exponent, 1)
        for step in (half, arith.subi(exponent, half)):
            biased = self.on_bits(arith.addi, step, _BIAS)
            power = self.of_bits(self.on_bits(arith.shli, biased, MANTISSA))
            value = self.mul(value, power)
        return value

    def clamped(self, x: Value, bound: float) -> Value:
        """`x` within a bound; NaN stays."""
        x = self.pick(self.less(x, -bound), self.number(-bound), x)
        return self.pick(self.less(self.number(bound), x), self.number(bound), x)
