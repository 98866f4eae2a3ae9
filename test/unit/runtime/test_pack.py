"""Packed bytes against Python's integers: a row is one number, its elements digits of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.isa import MatrixMemory, TilecError, form
from tilec.runtime import from_bits, pack, unpack
from tilec.sim.tensor import load_matrix

WIDTHS = {
    "b1": 1, "s4": 4, "u4": 4, "e2m1": 4, "e3m2": 6, "e2m3": 6, "s8": 8, "u8": 8, "e4m3": 8,
    "e5m2": 8, "ue8m0": 8, "f16": 16, "bf16": 16, "s32": 32, "f32": 32, "f64": 64,
}  # fmt: skip


def finite(name: str, rows: int, cols: int, seed: int):
    """Random codes, as integers and as numbers, without NaNs and infinities."""
    rng = np.random.default_rng(seed)
    width = min(WIDTHS[name], 32)
    codes = rng.integers(0, 1 << width, (rows, cols), dtype=np.uint64)
    if name not in ("s32", "s8", "u8"):
        top = {"e4m3": 0x7E, "e5m2": 0x7B, "f16": 0x7BFF, "bf16": 0x7F7F, "f32": 0x7F000000}
        codes %= top.get(name, 255 if width == 8 else 1 << width)
    return codes, from_bits(codes, name)


@pytest.mark.parametrize("name", WIDTHS)
@given(rows=st.integers(1, 3), runs=st.integers(1, 5), seed=st.integers(0, 1000))
def test_packed(name, rows, runs, seed) -> None:
    codes, numbers = finite(name, rows, 8 * runs, seed)
    memory = pack(numbers, name)
    width = WIDTHS[name]
    for row, found in zip(codes.tolist(), memory, strict=True):
        assert int.from_bytes(found.tobytes(), "little") == sum(
            code << width * i for i, code in enumerate(row)
        )
    back = unpack(memory, name)
    assert back.dtype == numbers.dtype
    assert (back == numbers).all()


@pytest.mark.parametrize(
    ("name", "container", "shift"),
    [("e2m1", "b8", 0), ("e2m1", "f8f6f4", 2), ("e3m2", "f8f6f4", 0), ("e2m3", "b8", 0),
     ("e4m3", "f8f6f4", 0), ("s4", "b8", 0)],
)  # fmt: skip
def test_a_byte_each(name, container, shift) -> None:
    codes, numbers = finite(name, 3, 5, 1)
    memory = pack(numbers, name, container)
    assert (memory == codes << np.uint64(shift)).all()
    assert (unpack(memory, name, container) == numbers).all()


@pytest.mark.parametrize(
    ("name", "container"), [("e3m2", "b6x16_p32"), ("e2m3", "b6x16_p32"), ("e2m1", "b4x16_p64")]
)
def test_what_ldmatrix_unpacks(name, container) -> None:
    """Rows of 16 bytes; the instruction, as simulated, gives back the codes."""
    codes, numbers = finite(name, 8, 32, 2)
    memory = pack(numbers, name, container)
    assert memory.shape == (8, 32)
    assert (unpack(memory, name, container) == numbers).all()
    f = form(f"ldmatrix.sync.aligned.m8n16.x2.b8x16.{container}")
    assert isinstance(f, MatrixMemory)
    rows = memory.reshape(8, 2, 16).transpose(1, 0, 2).reshape(1, 16, 16)
    registers = load_matrix(f, rows).view(np.uint8).reshape(2, 8, 4, 4)
    assert (registers.reshape(2, 8, 16).transpose(1, 0, 2).reshape(8, 32) == codes).all()


def test_refusals() -> None:
    with pytest.raises(TilecError, match="rows of 3 elements do not fill packed s4 in 2s"):
        pack([[1, 2, 3]], "s4")
    with pytest.raises(TilecError, match="rows of 8 elements do not fill b6x16_p32 e3m2 in 16s"):
        pack(np.zeros((1, 8)), "e3m2", "b6x16_p32")
    with pytest.raises(TilecError, match="b6x16_p32 does not take e2m1; legal: packed, b8, f8f6f4"):
        pack(np.zeros((1, 16)), "e2m1", "b6x16_p32")
    with pytest.raises(TilecError, match="unknown container 'b6'"):
        pack(np.zeros((1, 16)), "e3m2", "b6")
    with pytest.raises(TilecError, match="unknown element type 'e4m2'"):
        pack(np.zeros((1, 16)), "e4m2")
