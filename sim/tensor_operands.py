"""Operands of `tcgen05.mma`: values out of shared and tensor memory. PTX ISA 9.7.16.10.4."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import ElementType, Operand, TilecError
from tilec.isa.matrix_descriptor import MatrixDescriptor
from tilec.layout.descriptors import Descriptor
from tilec.layout.swizzle import SWIZZLES, Swizzle

from .alu import Array
from .shared_operands import CHUNK, plain_chunks
from .tensor.elements import decode_bytes, element_bits
from .tensor.elements import unpacked as values_of

Values = NDArray[Any]
_WORD = 32
_OF_32_BYTES, _PIECES, _LINE, _ATOM = "128B.32B", Swizzle(2, 5, 2), 128, 4
"""The swizzle that moves pieces of 32 bytes: its name, bytes of a line, lines of its pattern."""


def placed(operand: Operand, word: int, *, transposed: bool) -> Array:
    """Addresses of the chunks of an operand in shared memory, as `shared_operands.chunks` gives.

    Raises:
        TilecError: for a descriptor that says nothing, or what is not simulated.
    """
    found = MatrixDescriptor.decode(word)
    if found.absolute:
        raise TilecError(f"operand {operand.name} has an absolute address, which is not simulated")
    # Compilers leave one where there is no pattern that it could be of.
    if found.base_offset and found.swizzle != "none":
        raise TilecError(
            f"base offset {found.base_offset} of operand {operand.name} is not simulated: its "
            "effect is not published"
        )
    atoms = found.swizzle == _OF_32_BYTES
    if atoms != (transposed and operand.container == _WORD):
        raise TilecError(
            f"operand {operand.name} lies with swizzle {found.swizzle}; where elements of 32 bits "
            f"are contiguous along M or N, {_OF_32_BYTES} is legal, elsewhere every other one"
        )
    if atoms:
        return np.asarray(_PIECES(found.start + _in_atoms(operand, found)))
    swizzle = SWIZZLES[found.swizzle]
    plain = Descriptor(found.leading, found.stride, swizzle)
    return np.asarray(swizzle(found.start + plain_chunks(operand, plain, transposed)))


def _in_atoms(operand: Operand, descriptor: MatrixDescriptor) -> Array:
    """Bytes from the start to the chunks of an operand along M or N, in lines four of K apart."""
    rows, k = operand.rows, operand.cols
    if operand.name == "b":
        rows, k = k, rows
    across = np.arange(0, rows * operand.container // 8, CHUNK)[:, None]
    line = np.arange(k)
    return np.asarray(
        across // _LINE * descriptor.leading + across % _LINE
        + line // _ATOM * descriptor.stride + line % _ATOM * _LINE
    )  # fmt: skip


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
