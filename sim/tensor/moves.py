"""`ldmatrix`, `stmatrix` and `movmatrix`: rows in shared memory against registers of a warp."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import MatrixMemory, MovMatrix, Operand

from .indices import from_matrix, to_matrix

Registers = NDArray[np.uint32]
"""(warps, registers, 32)."""

Rows = NDArray[np.uint8]
"""(warps, matrices · rows, bytes of a row), matrix by matrix (`tilec.layout.row_addresses`)."""


def load_matrix(form: MatrixMemory, rows: Rows) -> Registers:
    """What `ldmatrix` puts into registers."""
    (operand,) = form.results
    elements = rows.view(_unit(operand)) if form.source is None else _unpack(rows, form.source)
    return _registers(operand, from_matrix(form, operand.name, elements))


def store_matrix(form: MatrixMemory, registers: Registers) -> Rows:
    """What `stmatrix` puts into memory."""
    (operand,) = form.operands
    rows = to_matrix(form, operand.name, _elements(operand, registers))
    flat = np.ascontiguousarray(rows).reshape(len(rows), form.matrices * form.rows, -1)
    return flat.view(np.uint8)


def move_matrix(form: MovMatrix, registers: Registers) -> Registers:
    """What `movmatrix` gives for the registers of its one operand."""
    (source,), (result,) = form.operands, form.results
    matrix = to_matrix(form, source.name, _elements(source, registers))
    return _registers(result, from_matrix(form, result.name, matrix))


def _unpack(rows: Rows, source: str) -> NDArray[np.uint8]:
    """Sixteen packed elements of each row as bytes."""
    signed, bits = source[0] == "s", int(source[1])
    singles = np.unpackbits(rows, axis=-1, count=16 * bits, bitorder="little")
    spread = singles.reshape(*rows.shape[:-1], 16, bits)
    values = np.packbits(spread, axis=-1, bitorder="little")[..., 0]
    sign = np.uint8(1 << (bits - 1))
    return (values ^ sign) - sign if signed else values


def _unit(operand: Operand) -> np.dtype[np.uint8] | np.dtype[np.uint16]:
    return np.dtype(np.uint16) if operand.container == 16 else np.dtype(np.uint8)


def _elements(operand: Operand, registers: Registers) -> NDArray[Any]:
    return np.ascontiguousarray(registers).reshape(len(registers), -1).view(_unit(operand))


def _registers(operand: Operand, elements: NDArray[Any]) -> Registers:
    words = np.ascontiguousarray(elements).view(np.uint32)
    return words.reshape(len(words), operand.registers, -1)
