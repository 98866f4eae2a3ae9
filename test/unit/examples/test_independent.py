"""The examples run with matrix instructions that know nothing of tilec's layouts.

Compiler and simulator take fragments from the same layouts, so a fault there would cancel out.
Here the simulator's matrix instructions are those of `plain_instructions`, written from the
ISA's formulas; everything else of the program runs as before. Whole numbers keep it exact.
"""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.dialects.tile import builders as tile
from tilec.isa import forms
from tilec.mlir import dialect
from tilec.sim import tensor

F16_K16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


@pytest.fixture
def plainly(plain: Any, run: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`run` with the plain instructions, which execute every matrix instruction of the kernel."""
    executed = set()

    def multiply(form: Any, fragments: Any, selectors: Any, **options: Any) -> Any:
        executed.add(form.ptx)
        registers = {name: fragment.registers for name, fragment in fragments.items()}
        return tensor.Fragment(plain.multiply(form, registers))

    def load_matrix(form: Any, rows: Any) -> Any:
        executed.add(form.ptx)
        return plain.load_matrix(form, rows)

    def store_matrix(form: Any, registers: Any) -> Any:
        executed.add(form.ptx)
        return plain.store_matrix(form, registers)

    monkeypatch.setattr(tensor, "multiply_fragments", multiply)
    monkeypatch.setattr(tensor, "load_matrix", load_matrix)
    monkeypatch.setattr(tensor, "store_matrix", store_matrix)

    def plain_run(*args: Any, **kwargs: Any) -> Any:
        report = run(*args, **kwargs)
        assert executed
        assert executed == {count.form for count in report.matrix}
        return report

    return plain_run


def whole_numbers(rng: Any, shape: tuple[int, int], dtype: Any) -> Any:
    return rng.integers(-8, 8, shape).astype(dtype)


def product(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64)


def test_one_instruction(plainly: Any, rng: Any) -> None:
    a, b = whole_numbers(rng, (16, 16), np.float16), whole_numbers(rng, (8, 16), np.float16)
    c, d = whole_numbers(rng, (16, 8), np.float32), np.zeros((16, 8), np.float32)
    plainly("mma", "mma", (1,), [a, b, c, d])
    np.testing.assert_array_equal(d, product(a, b.T) + c)


@pytest.mark.parametrize(
    ("name", "grid", "shape"),
    [
        ("warp_gemm", (2, 1), (16, 32, 128)),
        ("gemm", (1, 1), (128, 128, 192)),
        ("gemm_bounds", (2, 1), (100, 136, 72)),
        ("gemm_strides", (2, 1), (50, 70, 40)),
    ],
)
def test_f16(plainly: Any, rng: Any, name: str, grid: Any, shape: Any) -> None:
    """m16n8k16 and m16n8k8, ldmatrix with and without .trans."""
    m, n, k = shape
    a, b = whole_numbers(rng, (m, k), np.float16), whole_numbers(rng, (k, n), np.float16)
    c = np.zeros((m, n), np.float32)
    plainly(name, name, grid, [a, b, c])
    np.testing.assert_array_equal(c, product(a, b))


@pytest.mark.parametrize(
    ("kernel", "dtype", "result", "n_by_k"),
    [
        ("gemm_s8", np.int8, np.int32, True),
        ("gemm_bf16", ml_dtypes.bfloat16, np.float32, True),
        ("gemm_tf32", np.float32, np.float32, False),
        ("gemm_f64", np.float64, np.float64, False),
    ],
)
def test_other_types(
    plainly: Any, rng: Any, kernel: str, dtype: Any, result: Any, n_by_k: bool
) -> None:
    m, n, k = 32, 16, 96
    a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
    c = np.zeros((m, n), result)
    plainly("families", kernel, (n // 16, m // 16), [a, b.T.copy() if n_by_k else b, c])
    np.testing.assert_array_equal(c, product(a, b).astype(result))


NUMBERS = {
    # PTX's name: numpy's type, MLIR's in memory
    "f16": (np.float16, "f16"),
    "bf16": (ml_dtypes.bfloat16, "bf16"),
    "tf32": (np.float32, "f32"),
    "f64": (np.float64, "f64"),
    "s8": (np.int8, "i8"),
    "s32": (np.int32, "i32"),
    "f32": (np.float32, "f32"),
}
DENSE = [
    f
    for f in forms().values()
    if f.family == "mma" and f.products == 1 and f.rounding in (None, "rn") and not f.satfinite
]


@pytest.mark.parametrize(
    "form",
    [
        f
        for f in DENSE
        if {f.operand(n).type.name for n in "abcd"} <= set(NUMBERS)
        and f.operand("d").type.name != "f16"
    ],
    ids=lambda f: f.ptx.removeprefix("mma.sync.aligned."),
)
def test_every_dense_form(plainly: Any, rng: Any, form: Any) -> None:
    """One instruction, operands from global memory: A row-major, B as NxK, C zero."""
    m, n, k = form.operand("a").rows, form.operand("b").cols, form.operand("a").cols
    (dtype, inside), (result, outside) = (NUMBERS[form.operand(o).type.name] for o in "ad")
    memory = {
        "a": f"memref<{m}x{k}x{inside}>",
        "b": f"memref<{n}x{k}x{inside}>",
        "d": f"memref<{m}x{n}x{outside}>",
    }
    with (
        tile.module("product", target="sm_90a") as module,
        tile.kernel("product", memory, block=32) as (a, b, d),
    ):
        fa = tile.load(a, 0, 0, type=tile.operand_fragment(form, "a"))
        fb = tile.load(b, 0, 0, type=tile.operand_fragment(form, "b"), transposed=True)
        zero = tile.fill(0 if outside == "i32" else 0.0, tile.operand_fragment(form, "c"))
        tile.store(tile.mma(form, fa, fb, zero), d, 0, 0)
    a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (n, k), dtype)
    d = np.zeros((m, n), result)
    plainly(tilec.compile(module), "product", (1,), [a, b, d], target="sm_90a")
    np.testing.assert_array_equal(d, product(a, b.T).astype(result))


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_stmatrix(plainly: Any, rng: Any, count: int, transposed: bool) -> None:
    """Accumulators, as f16, through shared memory: C or its transpose."""
    trans = ".trans" if transposed else ""
    form = f"stmatrix.sync.aligned.m8n8.x{count}{trans}.b16"
    # Matrices of 8x8 side by side, in the order of an accumulator: down, then right.
    layout = {
        1: "register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8",
        2: "register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8",
        4: "register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16",
    }[count]
    rows, cols = {1: (8, 8), 2: (16, 8), 4: (16, 16)}[count]
    in_memory = (cols, rows) if transposed else (rows, cols)
    memory = {"x": f"memref<{rows}x{cols}xf32>", "y": "memref<16x16xf16>"}
    with (
        tile.module("stmatrix", target="sm_90a") as module,
        tile.kernel("stmatrix", memory, block=32) as (x, y),
    ):
        shared = tile.alloc_shared((16, 16), "f16", "32B")
        held = tile.load(x, 0, 0, type=tile.frag_type((rows, cols), "f32", layout))
        narrow = tile.cast("arith.truncf", held, "f16")
        tile.stmatrix(form, narrow, shared, 0, 0, transposed=transposed)
        dialect("gpu").barrier()
        # Row by row: nothing here but plain loads and stores.
        plain = "register [0,1] [0,2] [0,4]; lane [0,8] [1,0] [2,0] [4,0] [8,0] -> row 16, col 16"
        tile.store(tile.load(shared, 0, 0, type=tile.frag_type((16, 16), "f16", plain)), y, 0, 0)
    x = whole_numbers(rng, (rows, cols), np.float32)
    y = np.zeros((16, 16), np.float16)
    plainly(tilec.compile(module), "stmatrix", (1,), [x, y], target="sm_90a", checks=False)
    np.testing.assert_array_equal(y[: in_memory[0], : in_memory[1]], x.T if transposed else x)
