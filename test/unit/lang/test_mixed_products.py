"""Products of 8-bit floats by 4-bit ones, against numpy and the tables of ml_dtypes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.runtime import dequantize, quantize

RANDOM = np.random.default_rng(0)
Bytes = tl.Array[tl.uint8, int, int]
EIGHT = {"e4m3": tl.float8_e4m3fn, "e5m2": tl.float8_e5m2}
NUMPY = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}


@tilec.kernel(warps=4)
def product(
    a: Bytes,
    b: Bytes,
    c: tl.Array[tl.float32, int, int],
    type_a: tl.Constant[Any],
    type_b: tl.Constant[Any],
) -> None:
    acc = tl.zeros((64, 64))
    for k in range(0, 128, 64):
        x = tl.load(a, (0, k), (64, 64), dtype=type_a)
        y = tl.load(b, (0, k), (64, 64), dtype=type_b).T
        acc = tl.dot(x, y, acc)
    tl.store(c, (0, 0), acc)


def factor(name: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Bytes as memory holds them, and the numbers."""
    if name == "e2m1":
        codes = RANDOM.integers(0, 16, (64, 128)).astype(np.uint8)
        return codes[:, ::2] | codes[:, 1::2] << 4, codes.view(ml_dtypes.float4_e2m1fn).astype(
            float
        )
    values = RANDOM.integers(-8, 9, (64, 128)).astype(NUMPY[name])
    return values.view(np.uint8), values.astype(float)


@pytest.mark.parametrize("target", ["sm_89", "sm_90a", "sm_120a"])
@pytest.mark.parametrize(("one", "other"), [("e4m3", "e2m1"), ("e2m1", "e5m2"), ("e5m2", "e4m3")])
def test_products(target: str, one: str, other: str) -> None:
    """Whole numbers and halves, of which no sum is rounded."""
    types = {**EIGHT, "e2m1": tl.float4_e2m1fn}
    (a, left), (b, right) = factor(one), factor(other)
    c = np.zeros((64, 64), np.float32)
    report = product.using(target=target)[1](a, b, c, types[one], types[other])
    assert report.ok, report.findings
    np.testing.assert_array_equal(c, left @ right.T)


def test_a_target_without() -> None:
    a, c = np.zeros((64, 128), np.uint8), np.zeros((64, 64), np.float32)
    with pytest.raises(tl.KernelError, match=r":\d+:\d+: error: .* no instruction of sm_80 mult"):
        product.using(target="sm_80").compile(a, a, c, tl.float8_e4m3fn, tl.float4_e2m1fn)


@tilec.kernel(warps=4, target="sm_120a")
def scaled(
    a: Bytes, scale_a: Bytes, b: Bytes, scale_b: Bytes, c: tl.Array[tl.float32, int, int]
) -> None:
    acc = tl.zeros((64, 64))
    for k in range(0, 128, 64):
        x = tl.load(a, (0, k), (64, 64), dtype=tl.float8_e4m3fn)
        y = tl.load(b, (0, k), (64, 64), dtype=tl.float4_e2m1fn).T
        p = tl.load(scale_a, (0, k // 32), (64, 2), dtype=tl.float8_e8m0fnu)
        q = tl.load(scale_b, (0, k // 32), (64, 2), dtype=tl.float8_e8m0fnu).T
        acc = tl.dot_scaled(x, p, y, q, acc)
    tl.store(c, (0, 0), acc)


def test_with_scales() -> None:
    a = quantize(RANDOM.standard_normal((64, 128)), "e4m3", "ue8m0", 32)
    b = quantize(RANDOM.standard_normal((64, 128)), "e2m1", "ue8m0", 32)
    codes = np.asarray(b.elements).view(np.uint8)
    held = codes[:, ::2] & 15 | codes[:, 1::2] << 4
    c = np.zeros((64, 64), np.float32)
    report = scaled[1](
        a.elements.view(np.uint8), a.scales.view(np.uint8), held, b.scales.view(np.uint8), c
    )
    assert report.ok, report.findings
    np.testing.assert_allclose(c, dequantize(a) @ dequantize(b).T, rtol=1e-4, atol=1e-4)


def test_other_types_do_not_mix() -> None:
    @tilec.kernel
    def wrong(x: tl.Array[tl.float16, int, int], y: Bytes) -> None:
        tl.dot(tl.load(x, (0, 0), (16, 32)), tl.load(y, (0, 0), (32, 16), dtype=tl.float4_e2m1fn))

    with pytest.raises(tl.KernelError, match="elements of one type, not float16 and float4_e2m1fn"):
        wrong.compile(np.zeros((9, 9), np.float16), np.zeros((9, 9), np.uint8))
