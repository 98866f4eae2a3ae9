"""Bits that GPUs gave, reproduced: each file of vectors goes through a product whole.

Vectors are placed on the diagonals of the products of one instruction, eight to a product, with
zeros elsewhere; those measured with `wgmma` likewise in products of warpgroups.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tilec.isa import Mma, Product, element_type, form
from tilec.sim.tensor import multiply
from tilec.sim.tensor.arithmetic import arithmetic
from tilec.sim.tensor.dot import dot, factors
from tilec.sim.tensor.warpgroup import Operands, multiply_warpgroups

HALF = "mma.sync.aligned.m16n8k{k}.row.col.{acc}.{type}.{type}.{acc}"
QUAD = "mma.sync.aligned.m8n8k4.row.col.{acc}.f16.f16.{acc}"
CASES = [
    # file, target, instruction, type, K
    ("V100_f16", "sm_70", QUAD, "f16", 4),
    ("V100_f16", "sm_75", QUAD, "f16", 4),
    ("A100_f16", "sm_80", HALF, "f16", 8),
    ("A100_bf16", "sm_80", HALF, "bf16", 8),
    ("A100_tf32", "sm_80", HALF, "tf32", 4),
    ("Ada_e4m3", "sm_89", HALF, "e4m3", 32),
    ("Ada_e5m2", "sm_89", HALF, "e5m2", 32),
    ("H200_f16", "sm_90", HALF, "f16", 16),
    ("H200_bf16", "sm_90", HALF, "bf16", 16),
    ("H200_tf32", "sm_90", HALF, "tf32", 4),
    ("H200_e4m3_mma_sync", "sm_90a", HALF, "e4m3", 32),
    ("H200_e5m2_mma_sync", "sm_90a", HALF, "e5m2", 32),
]


def read(vectors: Path, name: str) -> dict[str, np.ndarray]:
    path = vectors / f"{name}.npz"
    if not path.is_file():
        pytest.skip(f"{path.name} is not here")
    with np.load(path) as file:
        return {key: file[key] for key in file.files}


def diagonal(f: Mma, tools, plain, name: str, values: np.ndarray) -> np.ndarray:
    """Registers (warps, registers, 32) of f32 `values` (vectors, K) or (vectors,)."""
    o = f.operand(name)
    lanes = (
        tools.element_place(f, plain, o, lane, i) for lane in range(32) for i in range(o.elements)
    )
    warps = len(values) // (8 * f.products)
    bits = values.astype(tools.NUMPY_TYPES[o.type.name]) if o.type.name != "tf32" else values
    bits = bits.view(f"u{bits.dtype.itemsize}").reshape(warps, f.products, 8, -1)
    words = np.zeros((warps, o.registers, 32, o.per_register), dtype=bits.dtype)
    for at, (product, row, col) in enumerate(lanes):
        lane, i = divmod(at, o.elements)
        vector, k = (row, col) if name != "b" else (col, row)
        if name in "cd":
            k = 0 if row == col else None
        if vector < 8 and k is not None:
            words[:, i // o.per_register, lane, i % o.per_register] = bits[:, product, vector, k]
    return words.view(np.uint32).reshape(warps, o.registers, 32)


def from_diagonal(f: Mma, tools, plain, registers: np.ndarray) -> np.ndarray:
    """The vectors' results as f32 bits."""
    d = f.operand("d")
    half = d.container == 16
    values = registers.view(np.float16) if half else registers.view(np.float32)
    values = values.reshape(len(registers), d.registers, 32, d.per_register)
    found = np.zeros((len(registers), f.products, 8), dtype=np.float32)
    for lane in range(32):
        for i in range(d.elements):
            product, row, col = tools.element_place(f, plain, d, lane, i)
            if row == col:
                found[:, product, row] = values[:, i // d.per_register, lane, i % d.per_register]
    return found.reshape(-1).view(np.uint32)


@pytest.mark.parametrize("acc", ["f32", "f16"])
@pytest.mark.parametrize(("file", "arch", "ptx", "type_", "k"), CASES, ids=lambda v: str(v)[:18])
def test_instruction(file, arch, ptx, type_, k, acc, vectors, tools, plain) -> None:
    data = read(vectors, file)
    if f"d_{acc}" not in data:
        pytest.skip(f"{file} was measured with f32 accumulators alone")
    f = form(ptx.format(k=k, acc=acc, type=type_))
    assert isinstance(f, Mma)
    full = len(data["c"]) // 32 * 32
    # the last ones once more, so that whole warps hold all
    order = np.r_[np.arange(full), np.arange(len(data["c"]) - 32, len(data["c"]))]
    operands = {
        n: diagonal(f, tools, plain, n, data[n][order].view(np.float32)) for n in ("a", "b", "c")
    }
    d = multiply(f, operands, {}, arch=arch, numerics="exact")
    assert (from_diagonal(f, tools, plain, d) == data[f"d_{acc}"][order]).all()


@pytest.mark.parametrize("acc", ["f32", "f16"])
@pytest.mark.parametrize("type_", ["e4m3", "e5m2"])
def test_wgmma(type_, acc, vectors) -> None:
    """Sixty-four vectors are the rows of A, eight of them the columns of B."""
    data = read(vectors, f"H200_{type_}_wgmma")
    if f"d_{acc}" not in data:
        pytest.skip("measured with f32 accumulators alone")
    f = form(f"wgmma.mma_async.sync.aligned.m64n8k32.{acc}.{type_}.{type_}.a::descriptor")
    assert isinstance(f, Product)
    a, b = (data[n].view(np.float32) for n in "ab")
    count = len(a) // 8
    assert 8 * count == len(a)
    rows = np.zeros((count, 64, 32), np.float32)
    rows[:, :8] = a.reshape(count, 8, 32)
    columns = b.reshape(count, 8, 32).transpose(0, 2, 1)
    words = multiply_warpgroups(f, Operands(rows, columns, None), arch="sm_90a", numerics="exact")
    # Element 0 of thread 4·m + n/2 has row m, column n if that is even, element 1 if odd.
    half = acc == "f16"
    values = np.ascontiguousarray(words.transpose(0, 2, 1)).view(np.float16 if half else np.float32)
    d = np.stack([values[:, 4 * m + m // 2, m % 2] for m in range(8)], axis=1).reshape(-1)
    assert (d.astype(np.float32).view(np.uint32) == data[f"d_{acc}"]).all()


@pytest.mark.parametrize(
    ("small", "kept"), [(2.0**-13, True), (2.0**-14, False)], ids=["13 bits", "14 bits"]
)
def test_wgmma_cuts_sums_of_8_bit_floats(small, kept) -> None:
    """Thirteen bits below the largest term are kept (arXiv 2511.10909), of either sign."""
    f = form("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3.a::descriptor")
    assert isinstance(f, Product)
    a, b = np.zeros((1, 64, 32), np.float32), np.zeros((1, 32, 8), np.float32)
    a[0, :, 0], b[0, 0, :4], b[0, 0, 4:] = 1, 1, -1
    a[0, :, 31], b[0, 31] = 2.0**-7, small * 2.0**7 * np.sign(b[0, 0])
    words = multiply_warpgroups(f, Operands(a, b, None), arch="sm_90a", numerics="exact")
    expected = 1 + (small if kept else 0)
    assert set(np.abs(words.view(np.float32)).ravel().tolist()) == {expected}


def test_other_models_do_not_fit(vectors) -> None:
    """The vectors are sharp: another width or length of the step fails them."""
    data = read(vectors, "H200_f16")
    f = form(HALF.format(k=16, acc="f32", type="f16"))
    assert isinstance(f, Mma)
    step = arithmetic(f, "sm_90").step
    a, b = (
        factors(np.ascontiguousarray(data[n].view(np.float32).T), element_type("f16")) for n in "ab"
    )
    for change in ({"fraction": 24}, {"fraction": 26}, {"terms": 8}):
        fields = {n: getattr(step, n) for n in ("terms", "fraction", "rounding", "zero_exponent")}
        other = type(step)(**fields | change)
        d = dot(other, a, b, data["c"].view(np.float32))
        assert 0.5 < (d.view(np.uint32) == data["d_f32"]).mean() < 0.95
