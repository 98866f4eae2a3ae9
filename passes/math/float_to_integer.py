"""`arith.fptosi` and `arith.fptoui`, defined for every float.

To LLVM's own conversions a float that the integer's type does not reach is undefined. The
instruction gives the nearest integer of its type (PTX ISA, `cvt`); so do these, in fewer bits as
well, and NaN becomes 0.
"""

from __future__ import annotations

from tilec.ir.aliases import Number, Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import integer
from tilec.isa import TilecError

from ..nvvm.lowering import Lowering
from ..nvvm.registers import Packing, elements, vector

NAMES = ("arith.fptosi", "arith.fptoui")
"""The ops that are lowered here."""


def lower_float_to_integer(name: str, value: Value, type_: Type, kernel: Lowering) -> Value:
    """A float, or a vector of floats, as integers: toward zero, and the nearest that there are.

    Args:
        name: `arith.fptosi` or `arith.fptoui`.
        value: f16, bf16, f32 or f64, or a vector of rank 1 of them.
        type_: of the result, of at most 64 bits.
        kernel: the kernel.
    """
    count = type_.shape[0] if isinstance(type_, ir.VectorType) else 1
    width, signed = scalar_of(type_).width, name == "arith.fptosi"
    parts = elements([value], Packing(scalar_of(value.type), count, 1))
    return vector([_lower(part, width, kernel, signed) for part in parts])


def scalar_of(type_: Type) -> Number:
    """The type of numbers that a type is, or a vector's elements.

    Raises:
        TilecError: if they are none that have a width.
    """
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    if not isinstance(element, ir.IntegerType | ir.FloatType):
        raise TilecError(f"takes integers and floats, not {type_}")
    return element


def _lower(value: Value, width: int, kernel: Lowering, signed: bool) -> Value:
    if not isinstance(value.type, (ir.F32Type, ir.F64Type)):
        value = arith.extf(value, ir.F32Type.get())
    is_double = isinstance(value.type, ir.F64Type)
    wide = integer(64 if width > 32 else 32)
    letters = {32: "i", 64: "ll"}[wide.width]
    name = f"llvm.nvvm.{'d' if is_double else 'f'}2{'' if signed else 'u'}{letters}.rz"
    found: Value = kernel.intrinsic(name, [value], wide)
    if is_double or wide.width == 64:  # cvt gives 0 for NaN of the others only
        nan = arith.cmpf(arith.CmpF.UNO, value, value)
        found = arith.select(nan, arith.integer(wide, 0), found)
    if width == wide.width:
        return found
    found = _clamped(found, width, signed)
    return arith.trunci(found, integer(width))


def _clamped(value: Value, width: int, signed: bool) -> Value:
    """An integer no smaller and no larger than `width` bits hold."""
    if not signed:
        return arith.minui(value, arith.integer(value.type, (1 << width) - 1))
    half = 1 << (width - 1)
    value = arith.maxsi(value, arith.integer(value.type, -half))
    return arith.minsi(value, arith.integer(value.type, half - 1))
