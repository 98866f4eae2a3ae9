"""Operands of `wgmma` in shared memory: where a descriptor says that they lie.

PTX ISA, "Matrix descriptor", "Shared memory matrix layout".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .alu import Array

CHUNK = 16
"""Bytes that always lie together."""
_FIELD = 0x3FFF
_MODES = {0: 1, 1: 8, 2: 4, 3: 2}
"""Chunks of a swizzled line, by the descriptor's mode."""
SWIZZLE_NAMES = {1: "none", 2: "32B", 4: "64B", 8: "128B"}


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """The fields of a descriptor.

    Attributes:
        start: address in shared memory.
        leading, stride: the leading and the stride byte offset.
        base: the base offset, 0 to 7.
        line: chunks of a swizzled line: 1, 2, 4 or 8.
    """

    start: int
    leading: int
    stride: int
    base: int
    line: int

    @classmethod
    def of(cls, bits: int) -> MatrixDescriptor:
        """The fields of 64 bits."""
        start, leading, stride = ((bits >> at & _FIELD) << 4 for at in (0, 16, 32))
        return cls(start, leading, stride, bits >> 49 & 7, _MODES[bits >> 62 & 3])


def chunks(
    descriptor: MatrixDescriptor, rows: int, row_bytes: int, size: int, *, transposed: bool
) -> Array:
    """Addresses of the chunks of an operand.

    Args:
        descriptor: of the operand.
        rows: its extent along M or N.
        row_bytes: bytes that it has along K of each of these.
        size: bytes of an element.
        transposed: whether it lies with M or N contiguous.

    Returns:
        (rows, chunks along K), or, transposed, (chunks along M or N, elements along K).
    """
    line = descriptor.line
    if not transposed:
        r, k = np.arange(rows)[:, None], np.arange(row_bytes // CHUNK)
        along = descriptor.leading if line == 1 else CHUNK
        offset = r // 8 * descriptor.stride + r % 8 * (CHUNK * line) + k * along
    else:
        r = np.arange(rows * size // CHUNK)[:, None]
        k = np.arange(row_bytes // size)
        if line == 1:
            offset = r * descriptor.stride + k // 8 * descriptor.leading + k % 8 * CHUNK
        else:
            offset = r // line * descriptor.leading + r % line * CHUNK
            offset = offset + k // 8 * descriptor.stride + k % 8 * (CHUNK * line)
    address = descriptor.start + offset
    return np.asarray(address ^ ((address >> 7 & line - 1) << 4))


def gather(data: Array, base: int, addresses: Array, size: int, *, transposed: bool) -> Array:
    """The bytes of an operand, (rows, bytes along K).

    Args:
        data: the array of bytes.
        base: where the CTA's shared memory begins in it.
        addresses: what `chunks` gives.
        size: bytes of an element.
        transposed: as for `chunks`.
    """
    found = data[base + addresses[..., None] + np.arange(CHUNK)]
    if not transposed:
        return np.ascontiguousarray(found.reshape(len(addresses), -1))
    # (chunks of rows, k, rows in a chunk, bytes) to (rows, k, bytes)
    parts = found.reshape(*addresses.shape, CHUNK // size, size)
    rows = parts.transpose(0, 2, 1, 3).reshape(-1, addresses.shape[1] * size)
    return np.ascontiguousarray(rows)
