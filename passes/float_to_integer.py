"""`arith.fptosi` and `arith.fptoui`, defined for every float.

To LLVM's own conversions a float that the integer's type does not reach is undefined. The
instruction gives the nearest integer of its type (PTX ISA, `cvt`); so do these, in fewer bits as
well, and NaN becomes 0.
"""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir

from .emit import create
from .nvvm.kernel import Kernel
from .nvvm.registers import Packing, elements, vector

NAMES = ("arith.fptosi", "arith.fptoui")
"""The ops that are lowered here."""
_UNORDERED = 14
"""The predicate `uno` of `arith.cmpf`."""


def lower_float_to_integer(name: str, value: Any, type_: Any, kernel: Kernel) -> Any:
    """A float, or a vector of floats, as integers: toward zero, and the nearest that there are.

    Args:
        name: `arith.fptosi` or `arith.fptoui`.
        value: f16, bf16, f32 or f64, or a vector of rank 1 of them.
        type_: of the result, of at most 64 bits.
        kernel: the kernel.
    """
    is_vector = isinstance(type_, ir.VectorType)
    element = type_.element_type if is_vector else type_
    source = value.type.element_type if is_vector else value.type
    packed = Packing(source, int(type_.shape[0]) if is_vector else 1, 1)
    signed = name == "arith.fptosi"
    return vector([_lower(v, element, kernel, signed) for v in elements([value], packed)])


def _lower(value: Any, type_: Any, kernel: Kernel, signed: bool) -> Any:
    if not isinstance(value.type, (ir.F32Type, ir.F64Type)):
        value = create("arith.extf", [value], ir.F32Type.get())
    is_double = isinstance(value.type, ir.F64Type)
    wide: Any = ir.IntegerType.get_signless(64 if type_.width > 32 else 32)
    letters = {32: "i", 64: "ll"}[wide.width]
    name = f"llvm.nvvm.{'d' if is_double else 'f'}2{'' if signed else 'u'}{letters}.rz"
    found = kernel.intrinsic(name, [value], wide)
    if is_double or wide.width == 64:  # cvt gives 0 for NaN of the others only
        nan = create("arith.cmpf", [value, value], _bit(), predicate=_i64(_UNORDERED))
        found = create("arith.select", [nan, _constant(0, wide), found], wide)
    if type_.width == wide.width:
        return found
    found = _clamped(found, type_.width, signed)
    return create("arith.trunci", [found], type_)


def _clamped(value: Any, width: int, signed: bool) -> Any:
    """An integer no smaller and no larger than `width` bits hold."""
    if not signed:
        return create("arith.minui", [value, _constant((1 << width) - 1, value.type)], value.type)
    half = 1 << (width - 1)
    for op, bound in (("arith.maxsi", -half), ("arith.minsi", half - 1)):
        value = create(op, [value, _constant(bound, value.type)], value.type)
    return value


def _constant(number: int, type_: Any) -> Any:
    return create("arith.constant", [], type_, value=ir.IntegerAttr.get(type_, number))


def _bit() -> Any:
    return ir.IntegerType.get_signless(1)


def _i64(number: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
