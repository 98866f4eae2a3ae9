"""Operands of `tcgen05.mma`: values out of shared and tensor memory. PTX ISA 9.7.16.10.4."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import ElementType, Operand, TilecError
from tilec.isa.matrix_descriptor import MatrixDescriptor
from tilec.layout.descriptors import Descriptor
from tilec.layout.swizzle import SWIZZLES

from .alu import Array
from .shared_operands import CHUNK, chunks_from
from .tensor.elements import decode_bytes, element_bits
from .tensor.elements import unpacked as values_of

Values = NDArray[Any]


def placed(operand: Operand, word: int, *, transposed: bool) -> Array:
    """Addresses of the chunks of an operand in shared memory, as `shared_operands.chunks` gives.

    Raises:
        TilecError: for a descriptor that says nothing, or what is not simulated.
    """
    found = MatrixDescriptor.decode(word)
    if found.swizzle not in SWIZZLES:
        raise TilecError(f"swizzle {found.swizzle} of operand {operand.name} is not simulated")
    if found.absolute:
        raise TilecError(f"operand {operand.name} has an absolute address, which is not simulated")
    # Compilers leave one where there is no pattern that it could be of.
    if found.base_offset and found.swizzle != "none":
        raise TilecError(
            f"base offset {found.base_offset} of operand {operand.name} is not simulated"
        )
    plain = Descriptor(found.leading, found.stride, SWIZZLES[found.swizzle])
    return chunks_from(operand, plain, found.start, transposed=transposed)


def decode_shared(operand: Operand, data: NDArray[np.uint8]) -> Values:
    """Values of rows of an operand, (rows, bytes along K).

    Of floats of less than 8 bits that take a byte each, sixteen stand packed at the beginning of
    every sixteen bytes, as tensor copies put them there.
    """
    bits = operand.type.bits
    if bits >= 8 or operand.container == bits:
        return _packed(operand.type, data)
    parts = data.reshape(len(data), -1, CHUNK)[:, :, : 2 * bits]
    return _packed(operand.type, np.ascontiguousarray(parts)).reshape(len(data), -1)


def _packed(type_: ElementType, data: NDArray[np.uint8]) -> Values:
    """Values of elements that follow each other without padding, (…, elements)."""
    if type_.bits >= 8:
        return decode_bytes(type_, data)
    bits = np.unpackbits(data, axis=-1, bitorder="little")
    split = bits.reshape(*data.shape[:-1], -1, type_.bits)
    codes = np.packbits(split, axis=-1, bitorder="little")[..., 0]
    return values_of(type_, codes & ((1 << element_bits(type_)) - 1))


def decode_tensor(operand: Operand, words: NDArray[np.uint32]) -> Values:
    """Values of A in tensor memory, (rows, columns of 32 bits)."""
    data = np.ascontiguousarray(words).view(np.uint8)
    if operand.type.bits >= 8 or operand.container == operand.type.bits:
        return _packed(operand.type, data)
    return values_of(operand.type, data >> operand.shift & ((1 << operand.type.bits) - 1))
