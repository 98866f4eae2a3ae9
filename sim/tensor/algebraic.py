"""Products of matrices of floats that are integers modulo 2^w: `tilec.isa.algebra`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import ElementType, Operand, Product, TilecError, algebra

Numbers = NDArray[Any]
"""Signed numbers in int64."""


def decode_numbers(operand: Operand, registers: NDArray[Any]) -> Numbers:
    """The numbers in registers, in the order of `elements.decode`.

    Args:
        operand: whose registers they are.
        registers: (warps, registers, 32), uint32, or uint64 of an f64 operand.
    """
    container, shift = operand.container, operand.shift
    flat = np.ascontiguousarray(registers).reshape(len(registers), -1)
    if container >= 8:
        words = flat.view(f"u{container // 8}").astype(np.uint64).view(np.int64)
        return algebra.modulo(words >> shift, container - shift)
    starts = np.arange(0, 8, container)
    parts = flat.view(np.uint8).astype(np.int64)[..., None] >> starts
    return algebra.modulo(parts.reshape(len(flat), -1), container)


def encode_numbers(operand: Operand, numbers: Numbers) -> NDArray[Any]:
    """Registers of numbers in the order of `decode_numbers`, of 16 bits an element or more."""
    held = np.ascontiguousarray(numbers.astype(f"i{operand.type.bits // 8}"))
    words = held.view(np.uint64 if operand.register.bits == 64 else np.uint32)
    return words.reshape(len(numbers), operand.registers, -1)


def bytes_as_numbers(type_: ElementType, data: NDArray[np.uint8]) -> Numbers:
    """The numbers in memory of elements that lie packed, as `elements.decode_bytes`."""
    held: Numbers = data.view(f"i{type_.bits // 8}").astype(np.int64)
    return held


def multiply_numbers(form: Product, a: Numbers, b: Numbers, c: Numbers) -> Numbers:
    """D of (…, m, k), (…, k, n) and (…, m, n), modulo the power of its type.

    Raises:
        TilecError: for a product with scale factors.
    """
    if form.scaling:
        raise TilecError(f"{form.ptx} has scale factors, which algebraic numerics does not support")
    return algebra.multiply(a, b, c, form.operand("d").type.bits)
