"""Arithmetic on floats, of which mathematical functions are made."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack, unpack

from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith

from ..nvvm.lowering import Lowering


class Scalars:
    """Emits arithmetic on f32, or on f64, and on integers of as many bits.

    Attributes:
        fast: whether instructions may stand for functions.
    """

    def __init__(self, kernel: Lowering, *, fast: bool, bits: int = 32) -> None:
        self._kernel = kernel
        self._float: Type = ir.F64Type.get() if bits == 64 else ir.F32Type.get()
        self._whole: Type = ir.IntegerType.get_signless(bits)
        self._name = f"f{bits}"
        self.fast = fast

    def number(self, value: float) -> Value:
        """A constant."""
        return arith.number(self._float, value)

    def integer(self, value: int) -> Value:
        """A constant of the integers' type."""
        return arith.integer(self._whole, value)

    def add(self, a: Value, b: Value) -> Value:
        """`a + b`."""
        return arith.addf(a, b)

    def sub(self, a: Value, b: Value) -> Value:
        """`a - b`."""
        return arith.subf(a, b)

    def mul(self, a: Value, b: Value) -> Value:
        """`a * b`."""
        return arith.mulf(a, b)

    def div(self, a: Value, b: Value) -> Value:
        """`a / b`."""
        return arith.divf(a, b)

    def fma(self, a: Value, b: Value, c: Value) -> Value:
        """`a * b + c`, rounded once."""
        return self.call(f"llvm.fma.{self._name}", a, b, c)

    def call(self, intrinsic: str, *operands: Value) -> Value:
        """An LLVM intrinsic on the floats."""
        return self._kernel.intrinsic(intrinsic, operands, self._float)

    def magnitude(self, a: Value) -> Value:
        """`|a|`."""
        return self.call(f"llvm.fabs.{self._name}", a)

    def floor(self, a: Value) -> Value:
        """The largest whole number that is not more."""
        return self.call(f"llvm.floor.{self._name}", a)

    def polynomial(self, x: Value, coefficients: list[float]) -> Value:
        """By Horner's rule, the constant first."""
        total = self.number(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            total = self.fma(total, x, self.number(coefficient))
        return total

    def test(self, predicate: arith.CmpF, a: Value, b: Value) -> Value:
        """A comparison."""
        return arith.cmpf(predicate, a, b)

    def less(self, a: Value, b: Value | float) -> Value:
        """Whether `a < b`."""
        other = self.number(b) if isinstance(b, int | float) else b
        return self.test(arith.CmpF.OLT, a, other)

    def equal(self, a: Value, b: float) -> Value:
        """Whether `a == b`."""
        return self.test(arith.CmpF.OEQ, a, self.number(b))

    def test_bits(self, predicate: arith.CmpI, a: Value, b: int) -> Value:
        """A comparison of an integer and a constant."""
        return arith.cmpi(predicate, a, self.integer(b))

    def pick(self, condition: Value, a: Value, b: Value) -> Value:
        """`a` where the condition holds, else `b`."""
        return arith.select(condition, a, b)

    def bits(self, a: Value) -> Value:
        """The bits of `a`, an integer."""
        return arith.bitcast(a, self._whole)

    def of_bits(self, bits: Value) -> Value:
        """The float of an integer's bits."""
        return arith.bitcast(bits, self._float)

    def on_bits(self, op: Callable[[Value, Value], Value], a: Value, b: int) -> Value:
        """An `arith` op of an integer and a constant."""
        return op(a, self.integer(b))

    def of_integer(self, a: Value) -> Value:
        """An integer as a float."""
        return arith.sitofp(a, self._float)


def split(value: float) -> tuple[float, float]:
    """A number as the sum of two of f32."""
    (high,) = unpack("f", pack("f", value))
    return high, value - high
