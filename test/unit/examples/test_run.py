"""The examples, run: what they compute is what numpy computes, and the simulator finds no fault.

Small whole numbers make every product exact, whatever the order of the sums, so that one element
in a wrong place shows; random numbers are compared within the accuracy of f32 sums.
"""

from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def whole_numbers(rng: Any, shape: tuple[int, int], dtype: Any) -> Any:
    return rng.integers(-8, 9, shape).astype(dtype)


def exact(a: Any, b: Any) -> Any:
    return a.astype(np.float64) @ b.astype(np.float64)


def padded(rng: Any, rows: int, cols: int, pad: int) -> Any:
    """A matrix whose rows lie further apart, with NaN between them."""
    stride = -(-cols // pad) * pad + pad
    memory = np.full((rows, stride), np.nan, np.float16)
    memory[:, :cols] = whole_numbers(rng, (rows, cols), np.float16)
    return memory[:, :cols]


def unwritten(rows: int, cols: int, stride: int | None = None) -> Any:
    return np.full((rows, stride or cols), 12345.0, np.float32)[:, :cols]


def test_mma(run: Any, rng: Any) -> None:
    a = whole_numbers(rng, (16, 16), np.float16)
    b = whole_numbers(rng, (8, 16), np.float16)
    c = whole_numbers(rng, (16, 8), np.float32)
    d = unwritten(16, 8)
    run("mma", "mma", (1,), [a, b, c, d])
    np.testing.assert_array_equal(d, exact(a, b.T) + c)


@pytest.mark.parametrize(("m", "n", "k"), [(16, 16, 64), (48, 32, 192)])
def test_warp_gemm(run: Any, rng: Any, m: int, n: int, k: int) -> None:
    a = whole_numbers(rng, (m, k), np.float16)
    b = whole_numbers(rng, (k, n), np.float16)
    c = unwritten(m, n)
    report = run("warp_gemm", "warp_gemm", (n // 16, m // 16), [a, b, c])
    np.testing.assert_array_equal(c, exact(a, b))
    assert report.conflicts == 0


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
@pytest.mark.parametrize(("m", "n", "k"), [(128, 128, 64), (256, 128, 128), (128, 256, 320)])
def test_gemm(run: Any, rng: Any, target: str, m: int, n: int, k: int) -> None:
    a = whole_numbers(rng, (m, k), np.float16)
    b = whole_numbers(rng, (k, n), np.float16)
    c = unwritten(m, n)
    report = run("gemm", "gemm", (n // 128, m // 128), [a, b, c], target=target)
    np.testing.assert_array_equal(c, exact(a, b))
    assert report.conflicts == 0
    # A barrier a slice, each passed by 8 warps of every CTA.
    assert report.barriers == (m // 128) * (n // 128) * (k // 64) * 8


@pytest.mark.parametrize("level", [0, 1, 2])
def test_gemm_at_lower_levels(run: Any, rng: Any, level: int) -> None:
    a, b = (whole_numbers(rng, (128, 128), np.float16) for _ in range(2))
    c = unwritten(128, 128)
    program = tilec.compile(EXAMPLES / "gemm.mlir", target="sm_80", opt_level=level)
    run(program, "gemm", (1, 1), [a, b, c])
    np.testing.assert_array_equal(c, exact(a, b))


def test_gemm_of_random_numbers(run: Any, rng: Any) -> None:
    a, b = (rng.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    c = unwritten(128, 128)
    run("gemm", "gemm", (1, 1), [a, b, c])
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) * 128 * 2.0**-23
    assert (np.abs(c - exact(a, b)) <= bound).all()


RAGGED = [
    (1, 1, 1),
    (127, 65, 63),
    (128, 128, 64),
    (129, 131, 65),
    (40, 200, 130),
    (130, 8, 200),
]


@pytest.mark.parametrize(("m", "n", "k"), RAGGED)
def test_gemm_bounds(run: Any, rng: Any, m: int, n: int, k: int) -> None:
    """Extents of any kind; rows of A and B padded to a multiple of 8, and of C by one."""
    a, b = padded(rng, m, k, 8), padded(rng, k, n, 8)
    c = unwritten(m, n, n + 1)
    run("gemm_bounds", "gemm_bounds", (-(-n // 128), -(-m // 128)), [a, b, c])
    np.testing.assert_array_equal(c, exact(a, b))
    assert (c.base[:, n] == 12345.0).all()


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (65, 67, 33), (3, 70, 5)])
@pytest.mark.parametrize("order", ["rows", "columns", "every other"])
def test_gemm_strides(run: Any, rng: Any, target: str, m: int, n: int, k: int, order: str) -> None:
    a, b, c = (
        arranged(order, matrix)
        for matrix in (
            whole_numbers(rng, (m, k), np.float16),
            whole_numbers(rng, (k, n), np.float16),
            np.full((m, n), 12345.0, np.float32),
        )
    )
    run("gemm_strides", "gemm_strides", (-(-n // 64), -(-m // 64)), [a, b, c], target=target)
    np.testing.assert_array_equal(c, exact(a, b))


def arranged(order: str, matrix: Any) -> Any:
    """The matrix as a view of memory that lies otherwise."""
    match order:
        case "columns":
            return np.ascontiguousarray(matrix.T).T
        case "every other":
            memory = np.full((matrix.shape[0] * 2, matrix.shape[1] * 3), 77, matrix.dtype)
            memory[::2, ::3] = matrix
            return memory[::2, ::3]
    return matrix.copy()


@pytest.mark.parametrize(
    ("kernel", "dtype", "result", "n_by_k"),
    [
        ("gemm_s8", np.int8, np.int32, True),
        ("gemm_bf16", ml_dtypes.bfloat16, np.float32, True),
        ("gemm_tf32", np.float32, np.float32, False),
        ("gemm_f64", np.float64, np.float64, False),
    ],
)
def test_families(run: Any, rng: Any, kernel: str, dtype: Any, result: Any, n_by_k: bool) -> None:
    m, n, k = 32, 48, 64
    a, b = whole_numbers(rng, (m, k), dtype), whole_numbers(rng, (k, n), dtype)
    c = np.full((m, n), 99, result)
    run("families", kernel, (n // 16, m // 16), [a, b.T.copy() if n_by_k else b, c])
    np.testing.assert_array_equal(c, exact(a, b).astype(result))


def test_f64_to_the_last_bit(run: Any, rng: Any) -> None:
    """The instruction is a chain of fused multiply-adds, k ascending."""
    a, b = rng.standard_normal((16, 8)), rng.standard_normal((8, 16))
    c = np.zeros((16, 16))
    run("families", "gemm_f64", (1, 1), [a, b, c])
    expected = np.zeros((16, 16))
    for k in range(8):
        expected = fused(a[:, k, None], b[None, k, :], expected)
    np.testing.assert_array_equal(c, expected)


def fused(a: Any, b: Any, c: Any) -> Any:
    """a · b + c rounded once, by exact fractions."""
    a, b, c = np.broadcast_arrays(a, b, c)
    flat = [
        float(Fraction(x) * Fraction(y) + Fraction(z))
        for x, y, z in zip(a.ravel().tolist(), b.ravel().tolist(), c.ravel().tolist(), strict=True)
    ]
    return np.array(flat).reshape(a.shape)
