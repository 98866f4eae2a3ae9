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
from tilec.ir.mlir import dialect
from tilec.isa import TARGETS, warp_forms
from tilec.sim import tensor
from tilec.sim.native.choice import VARIABLE

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

    monkeypatch.setenv(VARIABLE, "numpy")  # whose instructions these are
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


STORED = {
    # PTX's name: numpy's type of the codes, MLIR's in memory
    "f16": (np.float16, "f16"),
    "bf16": (ml_dtypes.bfloat16, "bf16"),
    "tf32": (np.float32, "f32"),
    "f32": (np.float32, "f32"),
    "f64": (np.float64, "f64"),
    "s8": (np.int8, "i8"),
    "u8": (np.uint8, "i8"),
    "s32": (np.int32, "i32"),
    "s4": (np.int8, "i8"),
    "u4": (np.uint8, "i8"),
    "b1": (np.uint8, "i8"),
    "e4m3": (ml_dtypes.float8_e4m3fn, "f8E4M3FN"),
    "e5m2": (ml_dtypes.float8_e5m2, "f8E5M2"),
    "e3m2": (ml_dtypes.float6_e3m2fn, "i8"),
    "e2m3": (ml_dtypes.float6_e2m3fn, "i8"),
    "e2m1": (ml_dtypes.float4_e2m1fn, "i8"),
}


def stored(values: Any, type_: str) -> Any:
    """Whole numbers as memory holds elements of a type: low bits first along the last axis."""
    codes = values.astype(STORED[type_][0])
    match type_:
        case "s4" | "u4":
            nibbles = codes.astype(np.uint8) & 15
            return nibbles[..., ::2] | nibbles[..., 1::2] << 4
        case "b1":
            return np.packbits(codes, axis=-1, bitorder="little")
        case "e2m1":
            return codes.view(np.uint8) << 2
        case "e3m2" | "e2m3":
            return codes.view(np.uint8)
    return codes


def numbers(rng: Any, shape: tuple[int, ...], type_: str) -> Any:
    """Numbers that every type of the kind has."""
    match type_[0]:
        case "b":
            return rng.integers(0, 2, shape) if type_ == "b1" else rng.integers(-4, 5, shape)
        case "u":
            return rng.integers(0, 16, shape)
        case "s":
            return rng.integers(-8, 8, shape)
    return rng.integers(-4, 5, shape)


def one_of_each() -> list[Any]:
    """The dense forms, one of those that differ in rounding or overflow only."""
    found = {}
    for form in warp_forms().values():
        if form.family == "mma":
            name = form.ptx.replace(".satfinite", "").replace(".kind::f8f6f4", "")
            found.setdefault(name.removesuffix(f".{form.rounding}"), form)
    return list(found.values())


def first_target(form: Any) -> str:
    return next(name for name, target in TARGETS.items() if form.min_ptx(target) is not None)


def matrix_memory(shape: tuple[int, ...], type_: str) -> str:
    """The memref of elements of a type."""
    *leading, last = shape
    bits = {"s4": 4, "u4": 4, "b1": 1}.get(type_, 8)
    extents = (*leading, last * bits // 8)
    return f"memref<{'x'.join(map(str, extents))}x{STORED[type_][1]}>"


@pytest.mark.parametrize("form", one_of_each(), ids=lambda f: f.ptx.removeprefix("mma.sync."))
def test_every_dense_form(plainly: Any, rng: Any, form: Any) -> None:
    """One instruction, operands from global memory: A row-major, B as NxK, C zero."""
    kinds = {name: form.operand(name).type.name for name in "abd"}
    a, b, d = (form.operand(name) for name in "abd")
    # The m8n8k4 of f16 is four products, each with matrices of its own.
    products = (form.products,) if form.products > 1 else ()
    shapes = {
        "a": (*products, a.rows, a.cols),
        "b": (*products, b.cols, b.rows),
        "d": (*products, d.rows, d.cols),
    }
    memory = {name: matrix_memory(shapes[name], kinds[name]) for name in "abd"}
    zeros = [0] * len(shapes["a"])
    target = first_target(form)
    with (
        tile.module("product", target=target) as module,
        tile.kernel("product", memory, block=32) as (in_a, in_b, out),
    ):
        fa = tile.load(in_a, *zeros, type=tile.operand_fragment(form, "a"))
        fb = tile.load(in_b, *zeros, type=tile.operand_fragment(form, "b"), transposed=True)
        none = tile.fill(0 if kinds["d"] == "s32" else 0.0, tile.operand_fragment(form, "c"))
        tile.store(tile.mma(form, fa, fb, none), out, *zeros)
    x, y = (numbers(rng, shapes[name], kinds[name]) for name in "ab")
    z = np.full(shapes["d"], 99).astype(STORED[kinds["d"]][0])
    arrays = [stored(x, kinds["a"]), stored(y, kinds["b"]), z]
    plainly(tilec.compile(module), "product", (1,), arrays, target=target)
    y = np.swapaxes(y, -1, -2)
    expected = x @ (1 - y) + (1 - x) @ y if form.bit_op == "xor" else x @ y
    np.testing.assert_array_equal(z, expected)


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
