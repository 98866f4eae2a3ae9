"""Floats of at most 8 bits, two at a time, where no instruction converts them.

A word is an i32 that has an element in the upper bits of each half. All that the sequences do is
exact but for the one rounding of `narrow`.
"""

from __future__ import annotations

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.ops.arith import CmpI
from tilec.ir.ops.shapes import Binary
from tilec.ir.types import i32
from tilec.isa import ElementType

from .registers import bitcast

_F32_BIAS, _F32_MANTISSA = 127, 23
_F32_INFINITY = 0x7F800000
_F16_BIAS, _F16_MANTISSA = 15, 10


def constant(value: int) -> Value:
    """An `arith.constant` of type i32."""
    return arith.integer(i32(), value)


def integer(op: Binary, value: Value, number: int) -> Value:
    """What `op` makes of a value of type i32 and a constant."""
    return op(value, constant(number))


def both(half: int) -> int:
    """A word whose halves are equal."""
    return half << 16 | half


def f16x2() -> ir.VectorType:
    """The type `vector<2xf16>`."""
    return ir.VectorType.get([2], ir.F16Type.get())


def _splat(value: float) -> Value:
    return arith.splat(f16x2(), ir.FloatAttr.get(ir.F16Type.get(), value))


def widen(word: Value, type_: ElementType) -> Value:
    """Two narrow floats as `vector<2xf16>`.

    The magnitude moves to where f16 has exponent and mantissa; a product with a power of two makes
    up for the difference of the biases, of subnormal numbers too. A NaN stays one.
    """
    magnitude = ((1 << (type_.bits - 1)) - 1) << (16 - type_.bits)
    kept = integer(arith.andi, word, both(magnitude))
    sign = integer(arith.andi, word, both(0x8000))
    moved = 5 - type_.exponent  # f16 has five bits of exponent
    if moved:
        kept = integer(arith.shrui, kept, moved)
    value = kept
    if type_.bias != _F16_BIAS:
        factor = _splat(2.0 ** (_F16_BIAS - type_.bias))
        scaled = arith.mulf(bitcast(kept, f16x2()), factor)
        value = bitcast(scaled, i32())
    if type_.name == "e4m3":
        # Only the NaN's magnitude, all ones, carries into the next bit.
        step = 1 << (_F16_MANTISSA - type_.mantissa)
        carried = integer(arith.andi, integer(arith.addi, kept, both(step)), both(0x4000))
        top, one = integer(arith.shli, carried, 1), integer(arith.shrui, carried, 14)
        value = arith.ori(value, arith.subi(top, one))
    return bitcast(arith.ori(value, sign), f16x2())


def narrow(value: Value, type_: ElementType) -> Value:
    """The code of an f32 in a narrow float, an i32: nearest even, saturated.

    A power of two whose last place is that of the result is added and taken off again, which rounds
    as the addition does; a product then gives the f32 the exponent that the narrow float has.
    """
    f32 = value.type
    u = bitcast(value, i32())
    magnitude = integer(arith.andi, u, 0x7FFFFFFF)
    clamped = integer(arith.minui, magnitude, _f32_of(type_, type_.largest))
    smallest = (_F32_BIAS + 1 - type_.bias) << _F32_MANTISSA
    power = integer(arith.maxui, integer(arith.andi, clamped, _F32_INFINITY), smallest)
    dropped = _F32_MANTISSA - type_.mantissa
    magic = bitcast(integer(arith.addi, power, dropped << _F32_MANTISSA), f32)
    rounded = arith.subf(arith.addf(bitcast(clamped, f32), magic), magic)
    scaled = arith.mulf(rounded, arith.number(f32, 2.0 ** (type_.bias - _F32_BIAS)))
    code = integer(arith.shrui, bitcast(scaled, i32()), dropped)
    sign = integer(arith.andi, integer(arith.shrui, u, 32 - type_.bits), 1 << (type_.bits - 1))
    return _unless_nan(magnitude, arith.ori(code, sign), _nan(type_))


def round_tf32(value: Value) -> Value:
    """The bits of an f32 rounded to tf32, ties away from zero."""
    u = bitcast(value, i32())
    rounded = integer(arith.andi, integer(arith.addi, u, 0x1000), -0x2000)
    return _unless_nan(integer(arith.andi, u, 0x7FFFFFFF), rounded, 0x7FFFFFFF)


def _f32_of(type_: ElementType, code: int) -> int:
    """The f32 bits of a positive normal number's code."""
    shift = _F32_MANTISSA - type_.mantissa
    return (code << shift) + ((_F32_BIAS - type_.bias) << _F32_MANTISSA)


def _nan(type_: ElementType) -> int:
    """What a NaN becomes: the largest number where the type has none."""
    return type_.largest if type_.bits < 8 else 0x7F


def _unless_nan(magnitude: Value, value: Value, nan: int) -> Value:
    """`value`, or `nan` where the f32 of this magnitude is one."""
    is_nan = arith.cmpi(CmpI.UGT, magnitude, constant(_F32_INFINITY))
    return arith.select(is_nan, constant(nan), value)
