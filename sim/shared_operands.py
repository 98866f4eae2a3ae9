"""Operands of `wgmma` in shared memory: the bytes that a descriptor means, by `tilec.layout`.

PTX ISA, "Matrix descriptor", "Shared memory matrix layout".
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from tilec.isa import Operand
from tilec.layout.descriptors import Descriptor

from .alu import Array
from .checks.sets import distinct

CHUNK = 16
"""Bytes that always lie together."""


@lru_cache(maxsize=1024)
def chunks(operand: Operand, word: int, *, transposed: bool) -> tuple[Descriptor, Array]:
    """The addresses of the chunks of an operand, which nobody may change.

    Args:
        operand: A or B.
        word: its descriptor.
        transposed: whether it lies with M or N contiguous.

    Returns:
        The descriptor, and addresses, (rows along M or N, chunks along K), or, transposed, (chunks
        along M or N, elements along K).

    Raises:
        LayoutError: for a descriptor with a base offset.
    """
    descriptor, start = Descriptor.decode(word)
    at = np.asarray(descriptor.swizzle(start + plain_chunks(operand, descriptor, transposed)))
    at.setflags(write=False)
    return descriptor, at


@lru_cache(maxsize=1024)
def granules(operand: Operand, word: int, *, transposed: bool) -> Array:
    """The chunks by their numbers, each once, ascending; arguments are those of `chunks`."""
    found = distinct(chunks(operand, word, transposed=transposed)[1] // CHUNK)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=256)
def plain_chunks(operand: Operand, descriptor: Descriptor, transposed: bool) -> Array:
    """Bytes from the start to each chunk, before the swizzle."""
    rows, k = operand.rows, operand.cols
    if operand.name == "b":
        rows, k = k, rows
    bits = operand.container
    matrix = descriptor.matrix({"row": rows, "k": k}, bits, "k", transposed=transposed)
    step = 8 * CHUNK // bits
    row_steps, k_steps = (step, 1) if transposed else (1, step)
    along_rows = [matrix.plain("row", at) // 8 for at in range(0, rows, row_steps)]
    along_k = [matrix.plain("k", at) // 8 for at in range(0, k, k_steps)]
    return np.asarray(np.array(along_rows)[:, None] + np.array(along_k))


def gather(data: Array, base: int, addresses: Array, size: int, *, transposed: bool) -> Array:
    """The bytes of an operand, (rows, bytes along K).

    Args:
        data: the array of bytes.
        base: where the CTA's shared memory begins in it.
        addresses: what `chunks` gives.
        size: bytes of an element, at least one.
        transposed: as for `chunks`.
    """
    found = data[base + addresses[..., None] + np.arange(CHUNK)]
    if not transposed:
        return np.ascontiguousarray(found.reshape(len(addresses), -1))
    # (chunks of rows, k, rows in a chunk, bytes) to (rows, k, bytes)
    parts = found.reshape(*addresses.shape, CHUNK // size, size)
    rows = parts.transpose(0, 2, 1, 3).reshape(-1, addresses.shape[1] * size)
    return np.ascontiguousarray(rows)
