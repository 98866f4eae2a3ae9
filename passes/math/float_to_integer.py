"""`arith.fptosi` and `arith.fptoui`, defined for every float.

To LLVM's own conversions a float that the integer's type does not reach is undefined. The
instruction gives the nearest integer of its type (PTX ISA, `cvt`); so do these, in fewer bits as
well, and NaN becomes 0.
"""

from __future__ import annotations

from tilec.dialects.tile.emit import i64
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir

from ..emit import create
from ..nvvm.kernel import Kernel as Lowering
from ..nvvm.registers import Packing, elements, vector

NAMES = ("arith.fptosi", "arith.fptoui")
"""The ops that are lowered here."""
_UNORDERED = 14
"""The predicate `uno` of `arith.cmpf`."""


def lower_float_to_integer(name: str, value: Value, type_: Type, kernel: Lowering) -> Value:
    """A float, or a vector of floats, as integers: toward zero, and the nearest that there are.

    Args:
        name: `arith.fptosi` or `arith.fptoui`.
        value: f16, bf16, f32 or f64, or a vector of rank 1 of them.
        type_: of the result, of at most 64 bits.
        kernel: the kernel.
    """
    source, result, count = value.type, type_, 1
    if isinstance(source, ir.VectorType) and isinstance(type_, ir.VectorType):
        source, result, (count,) = source.element_type, type_.element_type, type_.shape
    width = ir.IntegerType(result).width
    signed = name == "arith.fptosi"
    parts = elements([value], Packing(source, count, 1))
    found: Value = vector([_lower(part, width, kernel, signed) for part in parts])
    return found


def _lower(value: Value, width: int, kernel: Lowering, signed: bool) -> Value:
    if not isinstance(value.type, (ir.F32Type, ir.F64Type)):
        value = create("arith.extf", [value], ir.F32Type.get())
    is_double = isinstance(value.type, ir.F64Type)
    wide = ir.IntegerType.get_signless(64 if width > 32 else 32)
    letters = {32: "i", 64: "ll"}[wide.width]
    name = f"llvm.nvvm.{'d' if is_double else 'f'}2{'' if signed else 'u'}{letters}.rz"
    found: Value = kernel.intrinsic(name, [value], wide)
    if is_double or wide.width == 64:  # cvt gives 0 for NaN of the others only
        bit = ir.IntegerType.get_signless(1)
        nan = create("arith.cmpf", [value, value], bit, predicate=i64(_UNORDERED))
        found = create("arith.select", [nan, _constant(0, wide), found], wide)
    if width == wide.width:
        return found
    found = _clamped(found, width, signed)
    return create("arith.trunci", [found], ir.IntegerType.get_signless(width))


def _clamped(value: Value, width: int, signed: bool) -> Value:
    """An integer no smaller and no larger than `width` bits hold."""
    if not signed:
        return create("arith.minui", [value, _constant((1 << width) - 1, value.type)], value.type)
    half = 1 << (width - 1)
    for op, bound in (("arith.maxsi", -half), ("arith.minsi", half - 1)):
        value = create(op, [value, _constant(bound, value.type)], value.type)
    return value


def _constant(number: int, type_: Type) -> Value:
    return create("arith.constant", [], type_, value=ir.IntegerAttr.get(type_, number))
