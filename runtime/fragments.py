"""Matrices against the registers of a warp or warpgroup, for any operand that lies in them.

What a kernel's threads hold, made and read on the host: to run single instructions, and to compare
what they give.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tilec.isa import Form, Operand, TilecError
from tilec.layout import Fragment, any_fragment_of
from tilec.layout.index_arrays import index_arrays

from .elements import from_bits, to_bits

Registers = NDArray[Any]
"""(…, registers, threads), uint32, or uint64 of f64 operands; threads are 32, or 128."""


def to_registers(
    form: Form, name: str, matrix: ArrayLike, selectors: Mapping[str, int] | None = None
) -> Registers:
    """The registers that hold a matrix.

    Args:
        form: the instruction.
        name: the operand: `a`, of a sparse form as stored; `b`; `c`; `d`; `e`, the 4-bit codes,
            (m, chunks); `sfa`, (m, chunks); `sfb`, (chunks, n); `r` of a matrix load or store,
            (matrix, row, element).
        matrix: (…, rows, cols), numbers that `tilec.runtime.to_bits` takes; of the four products
            of m8n8k4 on f16 (…, 4, rows, cols).
        selectors: for `e`, `sfa` and `sfb` those that pick what is given; else 0 throughout.

    Returns:
        (…, registers, threads); what the selectors do not pick is zero.

    Raises:
        TilecError: for a number that the type cannot hold, a matrix of another shape, or a
            selector that is not legal.
        LayoutError: for an operand that the form does not have, that lies in memory, or of
            an opaque fragment.
    """
    layout, operand = any_fragment_of(form, name), form.operand(name)
    bits = to_bits(matrix, operand.type)
    at = _picked(form, operand, layout, selectors or {})
    if bits.shape[-at.ndim :] != at.shape:
        wanted = "×".join(map(str, at.shape))
        given = "×".join(map(str, bits.shape))
        raise TilecError(f"operand {name} of {form.ptx} is {wanted}, not {given}")
    outer = bits.shape[: -at.ndim]
    word: Any = np.uint64 if operand.register.bits == 64 else np.uint32
    elements = np.zeros((*outer, operand.elements * operand.threads), dtype=word)
    elements[..., at.ravel()] = bits.reshape(*outer, -1)
    packed = elements.reshape(*outer, operand.registers, operand.threads, operand.per_register)
    inside = np.arange(operand.per_register) * operand.container + operand.shift
    words: Registers = np.bitwise_or.reduce(packed << inside.astype(word), axis=-1)
    return words


def from_registers(
    form: Form, name: str, registers: Registers, selectors: Mapping[str, int] | None = None
) -> NDArray[Any]:
    """The inverse of `to_registers`: a matrix in the numpy type of the operand's elements.

    Raises: as `to_registers`.
    """
    layout, operand = any_fragment_of(form, name), form.operand(name)
    at = _picked(form, operand, layout, selectors or {})
    word = registers.dtype.type
    inside = np.arange(operand.per_register) * operand.container + operand.shift
    mask = word((1 << operand.container) - 1)
    elements = registers[..., None] >> inside.astype(word) & mask
    flat = elements.reshape(*registers.shape[:-2], -1)
    return from_bits(flat[..., at], operand.type)


def _picked(
    form: Form, operand: Operand, layout: Fragment, selectors: Mapping[str, int]
) -> NDArray[np.intp]:
    """Places of the elements of a matrix, at the selectors' values."""
    matrix = index_arrays(layout, operand.per_register).matrix
    legal = {selector.name: selector.legal for selector in form.selectors}
    names = [name for name in layout.out_sizes if name in legal]
    values = [selectors.get(name, 0) for name in names]
    for name, value in zip(names, values, strict=True):
        if value not in legal[name]:
            choices = ", ".join(map(str, legal[name]))
            raise TilecError(f"{name} of {form.ptx} is {value}; legal: {choices}")
    last: Any = (..., *values)  # selectors are the last outputs
    picked: NDArray[np.intp] = matrix[last]
    return picked
