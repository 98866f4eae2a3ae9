"""Floats of at most 8 bits, two at a time, where no instruction converts them.

A word is an i32 that has an element in the upper bits of each half. All that the sequences do is
exact but for the one rounding of `narrow`.
"""

from __future__ import annotations

from typing import Any

from tilec.ir.mlir import ir
from tilec.isa import ElementType

from ..emit import create
from .registers import bitcast, i32

_F32_BIAS, _F32_MANTISSA = 127, 23
_F32_INFINITY = 0x7F800000
_F16_BIAS, _F16_MANTISSA = 15, 10


def constant(value: int) -> Any:
    """An `arith.constant` of type i32."""
    return create("arith.constant", [], i32(), value=ir.IntegerAttr.get(i32(), value))


def integer(name: str, value: Any, number: int) -> Any:
    """The `arith` op on a value of type i32 and a constant."""
    return create(f"arith.{name}", [value, constant(number)], i32())


def both(half: int) -> int:
    """A word whose halves are equal."""
    return half << 16 | half


def f16x2() -> Any:
    """The type `vector<2xf16>`."""
    return ir.VectorType.get([2], ir.F16Type.get())


def _splat(value: float) -> Any:
    attribute = ir.FloatAttr.get(ir.F16Type.get(), value)
    splat = ir.DenseElementsAttr.get_splat(f16x2(), attribute)
    return create("arith.constant", [], f16x2(), value=splat)


def widen(word: Any, type_: ElementType) -> Any:
    """Two narrow floats as `vector<2xf16>`.

    The magnitude moves to where f16 has exponent and mantissa; a product with a power of two makes
    up for the difference of the biases, of subnormal numbers too. A NaN stays one.
    """
    magnitude = ((1 << (type_.bits - 1)) - 1) << (16 - type_.bits)
    kept = integer("andi", word, both(magnitude))
    sign = integer("andi", word, both(0x8000))
    moved = 5 - type_.exponent  # f16 has five bits of exponent
    if moved:
        kept = integer("shrui", kept, moved)
    value = kept
    if type_.bias != _F16_BIAS:
        factor = _splat(2.0 ** (_F16_BIAS - type_.bias))
        scaled = create("arith.mulf", [bitcast(kept, f16x2()), factor], f16x2())
        value = bitcast(scaled, i32())
    if type_.name == "e4m3":
        # Only the NaN's magnitude, all ones, carries into the next bit.
        step = 1 << (_F16_MANTISSA - type_.mantissa)
        carried = integer("andi", integer("addi", kept, both(step)), both(0x4000))
        top, one = integer("shli", carried, 1), integer("shrui", carried, 14)
        ones = create("arith.subi", [top, one], i32())
        value = create("arith.ori", [value, ones], i32())
    return bitcast(create("arith.ori", [value, sign], i32()), f16x2())


def narrow(value: Any, type_: ElementType) -> Any:
    """The code of an f32 in a narrow float, an i32: nearest even, saturated.

    A power of two whose last place is that of the result is added and taken off again, which rounds
    as the addition does; a product then gives the f32 the exponent that the narrow float has.
    """
    f32 = value.type
    u = bitcast(value, i32())
    magnitude = integer("andi", u, 0x7FFFFFFF)
    clamped = integer("minui", magnitude, _f32_of(type_, type_.largest))
    smallest = (_F32_BIAS + 1 - type_.bias) << _F32_MANTISSA
    power = integer("maxui", integer("andi", clamped, _F32_INFINITY), smallest)
    dropped = _F32_MANTISSA - type_.mantissa
    magic = bitcast(integer("addi", power, dropped << _F32_MANTISSA), f32)
    rounded = create("arith.addf", [bitcast(clamped, f32), magic], f32)
    rounded = create("arith.subf", [rounded, magic], f32)
    factor = ir.FloatAttr.get(f32, 2.0 ** (type_.bias - _F32_BIAS))
    factor = create("arith.constant", [], f32, value=factor)
    scaled = create("arith.mulf", [rounded, factor], f32)
    code = integer("shrui", bitcast(scaled, i32()), dropped)
    sign = integer("andi", integer("shrui", u, 32 - type_.bits), 1 << (type_.bits - 1))
    code = create("arith.ori", [code, sign], i32())
    return _unless_nan(magnitude, code, _nan(type_))


def round_tf32(value: Any) -> Any:
    """The bits of an f32 rounded to tf32, ties away from zero."""
    u = bitcast(value, i32())
    rounded = integer("andi", integer("addi", u, 0x1000), -0x2000)
    return _unless_nan(integer("andi", u, 0x7FFFFFFF), rounded, 0x7FFFFFFF)


def _f32_of(type_: ElementType, code: int) -> int:
    """The f32 bits of a positive normal number's code."""
    shift = _F32_MANTISSA - type_.mantissa
    return (code << shift) + ((_F32_BIAS - type_.bias) << _F32_MANTISSA)


def _nan(type_: ElementType) -> int:
    """What a NaN becomes: the largest number where the type has none."""
    return type_.largest if type_.bits < 8 else 0x7F


def _unless_nan(magnitude: Any, value: Any, nan: int) -> Any:
    """`value`, or `nan` where the f32 of this magnitude is one."""
    i1 = ir.IntegerType.get_signless(1)
    above = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 8)  # ugt
    operands = [magnitude, constant(_F32_INFINITY)]
    is_nan = create("arith.cmpi", operands, i1, predicate=above)
    return create("arith.select", [is_nan, constant(nan), value], i32())
