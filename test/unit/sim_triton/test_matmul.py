"""Triton's matrix products run unchanged and give the products: every element type, with masks.

Whole numbers make every product and sum exact, so that one element in a wrong place shows.
The kernels have layouts, swizzles and pipelines of Triton's own.
"""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2
MMA = "mma.sync.aligned."


def product(
    triton: Any,
    rng: Any,
    shape: tuple[int, int, int],
    dtype: Any,
    result: Any,
    capability: int,
    *,
    sum_type: str = "tl.float32",
    precision: str = "tf32",
    masked: bool = False,
    **options: Any,
) -> Any:
    """Run the kernel with tiles of 64×64×32, check its product, return the report."""
    m, n, k = shape
    a, b = (rng.integers(-4, 5, s).astype(dtype) for s in ((m, k), (k, n)))
    c = np.full((m, n), 99, result)
    report = triton.run(
        "matmul",
        (-(-m // 64), -(-n // 64)),
        [a, b, c, m, n, k, k, n, n],
        capability=capability,
        bm=64,
        bn=64,
        bk=32,
        masked=masked,
        sum_type=sum_type,
        precision=precision,
        **options,
    ).require_ok()
    exact = a.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(c, exact.astype(result))
    return report


@pytest.mark.parametrize("numerics", ["exact", "fast"])
@pytest.mark.parametrize("capability", [80, 89, 120])
def test_f16(triton: Any, rng: Any, capability: int, numerics: str) -> None:
    m, n, k = 128, 64, 96
    report = product(triton, rng, (m, n, k), np.float16, np.float32, capability, numerics=numerics)
    assert report.flops == 2 * m * n * k
    assert report.instructions["mma"] == m * n * k // (16 * 8 * 16)
    assert report.conflicts == 0


@pytest.mark.parametrize("shape", [(1, 1, 1), (100, 70, 50), (65, 129, 33)])
def test_masks(triton: Any, rng: Any, shape: tuple[int, int, int]) -> None:
    product(triton, rng, shape, np.float16, np.float32, 80, masked=True)


FORMS = {
    "f16 on sm_90, two warps": (
        np.float16, np.float32, 90, {"num_warps": 2}, "m16n8k16.row.col.f32.f16.f16.f32",
    ),
    "f16 sums": (
        np.float16, np.float16, 80, {"sum_type": "tl.float16"}, "m16n8k16.row.col.f16.f16.f16.f16",
    ),
    "bf16": (BF16, np.float32, 80, {}, "m16n8k16.row.col.f32.bf16.bf16.f32"),
    "bf16 results": (BF16, BF16, 80, {}, "m16n8k16.row.col.f32.bf16.bf16.f32"),
    "tf32": (np.float32, np.float32, 80, {}, "m16n8k8.row.col.f32.tf32.tf32.f32"),
    "tf32 three times": (
        np.float32, np.float32, 80, {"precision": "tf32x3"}, "m16n8k8.row.col.f32.tf32.tf32.f32",
    ),
    "f64": (
        np.float64, np.float64, 80, {"sum_type": "tl.float64", "precision": "ieee"},
        "m8n8k4.row.col.f64.f64.f64.f64.rn",
    ),
    "s8": (
        np.int8, np.int32, 80, {"sum_type": "tl.int32"},
        "m16n8k32.row.col.satfinite.s32.s8.s8.s32",
    ),
    "e4m3 on sm_89": (E4M3, np.float32, 89, {}, "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
    "e5m2 on sm_89": (E5M2, np.float32, 89, {}, "m16n8k32.row.col.f32.e5m2.e5m2.f32"),
    "e5m2 on sm_80, made f16": (E5M2, np.float32, 80, {}, "m16n8k16.row.col.f32.f16.f16.f32"),
    "e4m3 on sm_120": (E4M3, np.float32, 120, {}, "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
}  # fmt: skip


@pytest.mark.parametrize("name", FORMS)
def test_element_types(triton: Any, rng: Any, name: str) -> None:
    dtype, result, capability, options, form = FORMS[name]
    report = product(triton, rng, (64, 64, 64), dtype, result, capability, **options)
    assert MMA + form in {count.form for count in report.matrix}


@pytest.mark.parametrize("capability", [75, 80])
def test_without_matrix_instructions(triton: Any, rng: Any, capability: int) -> None:
    report = product(
        triton, rng, (64, 64, 32), np.float32, np.float32, capability, precision="ieee"
    )
    assert not report.flops


def test_random_numbers(triton: Any, rng: Any) -> None:
    m, n, k = 64, 64, 128
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    c = np.zeros((m, n), np.float32)
    triton.run(
        "matmul", (1, 1), [a, b, c, m, n, k, k, n, n],
        bm=64, bn=64, bk=32, masked=False, sum_type="tl.float32", precision="tf32",
    ).require_ok()  # fmt: skip
    exact = a.astype(np.float64) @ b.astype(np.float64)
    bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64) * k * 2.0**-23
    assert (np.abs(c - exact) <= bound).all()


def packed_e2m1(rng: Any, rows: int, cols: int) -> tuple[Any, Any]:
    """Two elements a byte, the first in the low bits; and their values."""
    codes = rng.integers(0, 16, (rows, cols)).astype(np.uint8)
    values = codes.view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    return codes[:, ::2] | codes[:, 1::2] << 4, values


@pytest.mark.parametrize(
    ("a_format", "b_format", "form"),
    [
        (
            "e4m3",
            "e5m2",
            "m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3.e5m2.f32.ue8m0",
        ),
        (
            "e2m1",
            "e2m1",
            "m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
        ),
        ("e4m3", "e2m1", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ],
)
def test_block_scaling(triton: Any, rng: Any, a_format: str, b_format: str, form: str) -> None:
    n, k = 64, 128

    def operand(format_: str) -> tuple[Any, Any]:
        if format_ == "e2m1":
            return packed_e2m1(rng, n, k)
        memory = rng.integers(-4, 5, (n, k)).astype({"e4m3": E4M3, "e5m2": E5M2}[format_])
        return memory, memory.astype(np.float64)

    (a, x), (b, y) = operand(a_format), operand(b_format)
    a_scale, b_scale = (rng.integers(125, 130, (n, k // 32)).astype(np.uint8) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    report = triton.run(
        "matmul_scaled", (1,), [a, a_scale, b, b_scale, c],
        capability=120, bm=n, bn=n, bk=k, a_format=a_format, b_format=b_format,
        a_pack=k // a.shape[1], b_pack=k // b.shape[1],
    ).require_ok()  # fmt: skip
    x, y = (
        values * np.repeat(2.0 ** (scale.astype(int) - 127), 32, axis=1)
        for values, scale in ((x, a_scale), (y, b_scale))
    )
    np.testing.assert_array_equal(c, x @ y.T)
    assert MMA + form in {count.form for count in report.matrix}
