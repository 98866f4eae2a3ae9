"""Element values out of registers, and back."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import ElementType, Operand
from tilec.isa.dtypes import numpy_type

Values = NDArray[Any]
"""Numbers: f32 for every type but f64 and s32, which stand as they are."""

_TF32_MASK = np.uint32(0xFFFFE000)  # hardware drops the low 13 bits, of NaNs too


def element_bits(type_: ElementType) -> int:
    """Bits that count: the top bit of ue4m3 does not."""
    signless = type_.is_float and type_.name.startswith("u")
    return type_.exponent + type_.mantissa if signless else type_.bits


@cache
def _table(type_: ElementType, container: int, shift: int) -> NDArray[np.float32]:
    """Values by the bits of a container; of containers below a byte, by the byte that holds them.

    Returns:
        (65536,) for containers of 16 bits, else (256, containers in a byte).
    """
    width = max(container, 8)
    words = np.arange(1 << width, dtype=np.uint32)
    starts = np.arange(0, width, container, dtype=np.uint32)
    mask = np.uint32((1 << element_bits(type_)) - 1)
    codes = words[:, None] >> (starts + np.uint32(shift)) & mask
    held = codes.astype(np.uint16 if width == 16 else np.uint8).view(numpy_type(type_))
    with np.errstate(invalid="ignore"):  # signalling NaNs
        values: NDArray[np.float32] = held.astype(np.float32)
    return values[:, 0].copy() if container == width else values


def decode_bytes(type_: ElementType, data: NDArray[np.uint8]) -> Values:
    """The values in memory of elements that lie packed, the low bits of a byte first.

    Args:
        type_: of at most 32 bits, and not of 4 or 6.
        data: (…, bytes).

    Returns:
        (…, elements).
    """
    if type_.bits == 1:
        return np.unpackbits(data, axis=-1, bitorder="little").astype(np.float32)
    if type_.name == "tf32":
        return (data.view(np.uint32) & _TF32_MASK).view(np.float32)
    unit = np.dtype(np.uint16 if type_.bits == 16 else np.uint8)
    values: Values = _table(type_, type_.bits, 0).take(data.view(unit))
    return values


def unpacked(type_: ElementType, codes: NDArray[np.integer[Any]]) -> Values:
    """The values of codes that stand one in a byte."""
    values: Values = _table(type_, 8, 0).take(codes)
    return values


def decode(operand: Operand, registers: NDArray[Any]) -> Values:
    """The values in registers.

    Args:
        operand: whose registers they are.
        registers: (warps, registers, 32), uint32, or uint64 of an f64 operand.

    Returns:
        (warps, registers · 32 · per_register): register by register, in it lane by lane, in it
        from the low bits up.
    """
    type_, container = operand.type, operand.container
    flat = np.ascontiguousarray(registers).reshape(len(registers), -1)
    if type_.name == "tf32":
        return (flat & _TF32_MASK).view(np.float32)
    if container >= 32:
        return flat.view(numpy_type(type_))
    unit = np.dtype(np.uint16 if container == 16 else np.uint8)
    words = flat.view(unit)
    table = _table(type_, container, operand.shift)
    values: Values = table.take(words, axis=0).reshape(len(flat), -1)
    return values


def encode(operand: Operand, values: Values) -> NDArray[Any]:
    """Registers of values in the order of `decode`; of a result, so 16 bits an element or more."""
    with np.errstate(all="ignore"):  # f32 sums beyond the range of f16
        held = np.ascontiguousarray(values, dtype=numpy_type(operand.type))
    words = held.view(np.uint64 if operand.register.bits == 64 else np.uint32)
    return words.reshape(len(values), operand.registers, -1)
