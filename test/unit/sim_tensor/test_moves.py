"""`ldmatrix`, `stmatrix` and `movmatrix` against the formulas of the ISA, coded here."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import MatrixMemory, MovMatrix, form, warp_forms
from tilec.sim.tensor import load_matrix, move_matrix, store_matrix

LOADS = [f for f in warp_forms().values() if isinstance(f, MatrixMemory) and f.results]
STORES = [f for f in warp_forms().values() if isinstance(f, MatrixMemory) and f.operands]
WARPS = 3


def unpacked(f: MatrixMemory, row: np.ndarray) -> list[int]:
    """Elements of a row in memory."""
    number = int.from_bytes(row.tobytes(), "little")
    if f.results[0].type.name == "b16":
        return [number >> 16 * e & 0xFFFF for e in range(8)]
    bits = {None: 8, "b6x16_p32": 6, "b4x16_p64": 4, "s4": 4}[f.source]
    values = [number >> bits * e & (1 << bits) - 1 for e in range(16)]
    return [v - 16 & 0xFF if f.source == "s4" and v >= 8 else v for v in values]


def loaded_from(f: MatrixMemory, lane: int, k: int, j: int) -> tuple[int, int, int]:
    """Matrix, row and element that part j of register k receives."""
    g, t = lane >> 2, lane & 3
    if ".m8n8." in f.ptx:
        return (k, 2 * t + j, g) if f.transposed else (k, g, 2 * t + j)
    if ".m16n16." in f.ptx:
        return k >> 1, 4 * t + j, g + 8 * (k & 1)
    return k, g, 4 * t + j


@pytest.mark.parametrize("f", LOADS, ids=str)
def test_load(f: MatrixMemory) -> None:
    rng = np.random.default_rng(1)
    count = f.matrices * f.rows
    rows = rng.integers(0, 256, (WARPS, count, f.row_bytes), dtype=np.uint8)
    got = load_matrix(f, rows)
    assert got.shape == (WARPS, f.results[0].registers, 32)
    width = f.results[0].container
    for warp in range(WARPS):
        elements = [unpacked(f, row) for row in rows[warp]]
        for (k, lane), word in np.ndenumerate(got[warp]):
            for j in range(32 // width):
                matrix, row, element = loaded_from(f, lane, k, j)
                want = elements[matrix * f.rows + row][element]
                assert int(word) >> width * j & (1 << width) - 1 == want


@pytest.mark.parametrize("f", STORES, ids=str)
def test_store(f: MatrixMemory) -> None:
    rng = np.random.default_rng(2)
    (operand,) = f.operands
    registers = rng.integers(0, 1 << 32, (WARPS, operand.registers, 32), dtype=np.uint32)
    got = store_matrix(f, registers)
    assert got.shape == (WARPS, f.matrices * 8, 16)
    seen = np.zeros(got.shape, dtype=bool)
    for warp, k, lane in np.ndindex(registers.shape):
        g, t = lane >> 2, lane & 3
        for j in range(4):
            byte = int(registers[warp, k, lane]) >> 8 * j & 0xFF
            half, low = divmod(j, 2)
            if ".m16n8." in f.ptx:
                row, at = 2 * t + (j & 1), g + 8 * (j >> 1)
            elif f.transposed:
                row, at = 2 * t + half, 2 * g + low
            else:
                row, at = g, 4 * t + j
            assert got[warp, 8 * k + row, at] == byte
            seen[warp, 8 * k + row, at] = True
    assert seen.all()


def test_a_stored_matrix_loads_back() -> None:
    rng = np.random.default_rng(3)
    registers = rng.integers(0, 1 << 32, (WARPS, 4, 32), dtype=np.uint32)
    for trans in ("", ".trans"):
        store = form(f"stmatrix.sync.aligned.m8n8.x4{trans}.b16")
        load = form(f"ldmatrix.sync.aligned.m8n8.x4{trans}.b16")
        assert isinstance(store, MatrixMemory)
        assert isinstance(load, MatrixMemory)
        assert (load_matrix(load, store_matrix(store, registers)) == registers).all()


def test_move() -> None:
    rng = np.random.default_rng(4)
    f = form("movmatrix.sync.aligned.m8n8.trans.b16")
    assert isinstance(f, MovMatrix)
    registers = rng.integers(0, 1 << 32, (WARPS, 1, 32), dtype=np.uint32)
    got = move_matrix(f, registers)
    for warp, lane, j in np.ndindex(WARPS, 32, 2):
        row, col = 2 * (lane & 3) + j, lane >> 2
        source = int(registers[warp, 0, 4 * row + (col >> 1)]) >> 16 * (col & 1) & 0xFFFF
        assert int(got[warp, 0, lane]) >> 16 * j & 0xFFFF == source
