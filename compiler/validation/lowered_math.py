"""The algebra with functions as the instructions that `tile-lower-math` makes of them.

PTX has no `math.exp`: it has a power of two and a few sums, which in the algebra are another
function. So what is compared with PTX takes the sequences themselves for the functions' meaning.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import cast

import numpy as np
from tilec.interpret import integers
from tilec.interpret.arithmetic.algebraic import Algebraic
from tilec.interpret.numbers import Array, Number, wrap
from tilec.ir.aliases import Op, Value
from tilec.ir.ops import arith
from tilec.isa import algebra
from tilec.passes.base import walk
from tilec.passes.lower_math import APPROXIMATE
from tilec.passes.math.scalars import Scalars
from tilec.passes.math.sequences import SEQUENCES

_F32, _I32 = 32, 32
_INTRINSICS: Mapping[str, str] = MappingProxyType(
    {
        "llvm.nvvm.ex2.approx.ftz.f32": "exp2",
        "llvm.nvvm.lg2.approx.f": "log2",
        "llvm.fabs.f32": "abs",
        "llvm.rint.f32": "roundeven",
        "llvm.exp2.f32": "exp2",
        "llvm.floor.f32": "floor",
        "llvm.fma.f32": "fma",
        "llvm.copysign.f32": "copysign",
    }
)
_WITHOUT = frozenset({"arith.remf"})
"""Functions whose instructions are none of the algebra's."""
_BITWISE = frozenset({"math.sin", "math.cos"})
"""Functions that reduce their argument by its bits, unless an instruction may stand for them."""


class _Numbers(Scalars):
    """Arithmetic on arrays of numbers in place of what emits it."""

    def __init__(self, *, fast: bool) -> None:
        self.fast = fast

    def number(self, value: float) -> Value:
        return _value(algebra.embed(np.asarray(float(np.float32(value))), _F32))

    def integer(self, value: int) -> Value:
        return _value(wrap(np.asarray(value), _I32))

    def add(self, a: Value, b: Value) -> Value:
        return self._apply("add", a, b)

    def sub(self, a: Value, b: Value) -> Value:
        return self._apply("sub", a, b)

    def mul(self, a: Value, b: Value) -> Value:
        return self._apply("mul", a, b)

    def div(self, a: Value, b: Value) -> Value:
        return self._apply("div", a, b)

    def call(self, intrinsic: str, *operands: Value) -> Value:
        return self._apply(_INTRINSICS[intrinsic], *operands)

    def test(self, predicate: arith.CmpF, a: Value, b: Value) -> Value:
        return _value(_ARITHMETIC.compare(int(predicate), _array(a), _array(b)))

    def test_bits(self, predicate: arith.CmpI, a: Value, b: int) -> Value:
        return _value(integers.compare(int(predicate), _I32, _array(a), np.asarray(b)))

    def pick(self, condition: Value, a: Value, b: Value) -> Value:
        return _value(np.where(_array(condition), _array(a), _array(b)))

    def bits(self, a: Value) -> Value:
        return a

    def of_bits(self, bits: Value) -> Value:
        return bits

    def on_bits(self, op: Callable[[Value, Value], Value], a: Value, b: int) -> Value:
        name = f"arith.{getattr(op, '__name__', '')}"
        return _value(integers.apply(name, _I32, _array(a), np.asarray(b)))

    def of_integer(self, a: Value) -> Value:
        return a

    def _apply(self, name: str, *values: Value) -> Value:
        return _value(algebra.apply(name, [_array(v) for v in values], _F32))


def _value(numbers: Array) -> Value:
    """Numbers where the sequences have values of MLIR's."""
    return cast("Value", numbers)


def _array(value: Value) -> Array:
    return cast("Array", value)


class LoweredMath(Algebraic):
    """The algebra, where functions are what they are lowered to."""

    def __init__(self, *, fast: bool) -> None:
        self._numbers = _Numbers(fast=fast)

    def apply(self, fn: str, values: Sequence[Array], number: Number) -> Array:
        """As PTX computes it.

        Raises:
            KeyError: for functions that are computed by the bits of a float.
        """
        fast = self._numbers.fast
        if fn in _WITHOUT or (fn in _BITWISE and not fast):
            raise KeyError(fn)
        if fn not in SEQUENCES or (fn in APPROXIMATE and fast):
            return super().apply(fn, values, number)
        held = [_value(np.asarray(value)) for value in values]
        with np.errstate(over="ignore"):
            return wrap(_array(SEQUENCES[fn](self._numbers, *held)), number.bits)


_ARITHMETIC = Algebraic()
_EXACT, _FAST = LoweredMath(fast=False), LoweredMath(fast=True)


def arithmetic_of_kernel(function: Op) -> Algebraic:
    """The arithmetic to compare a kernel's PTX by: functions may be approximated, or not."""
    flags = {
        _may_approximate(op)
        for op in walk(function)
        if op.operation.name in SEQUENCES or str(op.attributes.get("fn")).strip('"') in SEQUENCES
    }
    return _FAST if flags == {True} else _EXACT


def _may_approximate(op: Op) -> bool:
    given = str(op.attributes.get("fastmath"))
    return "afn" in given or "fast>" in given
