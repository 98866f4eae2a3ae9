"""Arithmetic on f32, of which mathematical functions are made."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack, unpack

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith

from ..nvvm.lowering import Lowering


class Scalars:
    """Emits arithmetic on f32.

    Attributes:
        fast: whether instructions may stand for functions.
    """

    def __init__(self, kernel: Lowering, *, fast: bool) -> None:
        self._kernel = kernel
        self._f32 = ir.F32Type.get()
        self._i32 = ir.IntegerType.get_signless(32)
        self.fast = fast

    def number(self, value: float) -> Value:
        """A constant."""
        return arith.number(self._f32, value)

    def integer(self, value: int) -> Value:
        """A constant of type i32."""
        return arith.integer(self._i32, value)

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
        return self.call("llvm.fma.f32", a, b, c)

    def call(self, intrinsic: str, *operands: Value) -> Value:
        """An LLVM intrinsic on f32."""
        return self._kernel.intrinsic(intrinsic, operands, self._f32)

    def magnitude(self, a: Value) -> Value:
        """`|a|`."""
        return self.call("llvm.fabs.f32", a)

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
        """A comparison of an i32 and a constant."""
        return arith.cmpi(predicate, a, self.integer(b))

    def pick(self, condition: Value, a: Value, b: Value) -> Value:
        """`a` where the condition holds, else `b`."""
        return arith.select(condition, a, b)

    def bits(self, a: Value) -> Value:
        """The bits of `a`, an i32."""
        return arith.bitcast(a, self._i32)

    def of_bits(self, bits: Value) -> Value:
        """The f32 of an i32's bits."""
        return arith.bitcast(bits, self._f32)

    def on_bits(self, op: Callable[[Value, Value], Value], a: Value, b: int) -> Value:
        """An `arith` op of an i32 and a constant."""
        return op(a, self.integer(b))

    def of_integer(self, a: Value) -> Value:
        """An i32 as f32."""
        return arith.sitofp(a, self._f32)


def split(value: float) -> tuple[float, float]:
    """A number as the sum of two of f32."""
    (high,) = unpack("f", pack("f", value))
    return high, value - high
