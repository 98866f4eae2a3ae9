"""Floats of 6 bits, one in each byte, against ml_dtypes and numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.runtime import dequantize, quantize

RANDOM = np.random.default_rng(0)
SIX = {"e2m3": tl.float6_e2m3fn, "e3m2": tl.float6_e3m2fn}
TYPES = {**SIX, "e4m3": tl.float8_e4m3fn, "e5m2": tl.float8_e5m2, "e2m1": tl.float4_e2m1fn}
Bytes = tl.Array[tl.uint8, int, int]


def numpy_type(name: str) -> Any:
    return getattr(ml_dtypes, repr(TYPES[name]))


@tilec.kernel
def converted(
    x: tl.AnyArray, wide: tl.Array[tl.float32, int], narrow: tl.AnyArray, eight: tl.AnyArray
) -> None:
    held = tl.load(x, 0, 64)
    tl.store(wide, 0, held.astype(tl.float32))
    tl.store(narrow, 0, tl.load(wide, 64, 512).astype(narrow.dtype))
    tl.store(eight, 0, held.astype(tl.float8_e4m3fn))


@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("name", SIX)
def test_conversions(name: str, target: str) -> None:
    """All 64 codes to float32; random floats back, to nearest even, those beyond to the largest."""
    dtype = numpy_type(name)
    codes = np.arange(64, dtype=np.uint8).view(dtype)
    largest = float(ml_dtypes.finfo(dtype).max)
    given = RANDOM.uniform(-1.5 * largest, 1.5 * largest, 512).astype(np.float32)
    given[:128] = np.repeat(codes.astype(np.float32), 2) + np.tile([0, 0.03125], 64)
    wide = np.concatenate([np.zeros(64, np.float32), given])
    narrow, eight = np.zeros(512, dtype), np.zeros(64, ml_dtypes.float8_e4m3fn)
    converted.using(target=target)[1](codes, wide, narrow, eight)
    np.testing.assert_array_equal(wide[:64], codes.astype(np.float32))
    np.testing.assert_array_equal(eight.astype(np.float32), codes.astype(np.float32))
    clamped = np.clip(given, -largest, largest).astype(dtype)
    np.testing.assert_array_equal(narrow.view(np.uint8), clamped.view(np.uint8))


@tilec.kernel
def moved(x: tl.AnyArray, rows: tl.Array[tl.int32, int], y: tl.AnyArray, bits: Bytes) -> None:
    at = tl.load(rows, 0, 8)
    held = tl.load(x, (at, 0), (8, 16), fill=tl.full((8, 16), 1.5, x.dtype))
    held = tl.where(tl.arange(16) < 12, held, tl.full((8, 16), -2, x.dtype))
    tl.store(y, (0, 0), held.T)
    tl.store(bits, (0, 0), held.view(tl.uint8)[:, ::-1])


@pytest.mark.parametrize("name", SIX)
def test_what_moves_elements(name: str) -> None:
    """Gathers, fills, choices, transposes and bits."""
    dtype = numpy_type(name)
    x = RANDOM.integers(0, 64, (20, 16)).astype(np.uint8).view(dtype)
    rows = np.array([3, 19, -1, 0, 20, 7, 7, 100], np.int32)
    y, bits = np.zeros((16, 8), dtype), np.zeros((8, 16), np.uint8)
    wanted = np.full((8, 16), 1.5, dtype)
    inside = (rows >= 0) & (rows < 20)
    wanted[inside] = x[rows[inside]]
    wanted[:, 12:] = -2
    moved[1](x, rows, y, bits)
    np.testing.assert_array_equal(y.view(np.uint8), wanted.T.view(np.uint8))
    np.testing.assert_array_equal(bits, wanted.view(np.uint8)[:, ::-1])
    y[:], bits[:] = 0, 0
    moved.interpret[1](x, rows, y, bits)
    np.testing.assert_array_equal(y.view(np.uint8), wanted.T.view(np.uint8))


@tilec.kernel(warps=4, target="sm_120a")
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
        return codes[:, ::2] | codes[:, 1::2] << 4, codes.view(numpy_type(name)).astype(float)
    values = (RANDOM.integers(-8, 9, (64, 128)) / 2).astype(numpy_type(name))
    return values.view(np.uint8), values.astype(float)


PAIRS = [("e2m3", "e2m3"), ("e3m2", "e2m3"), ("e4m3", "e3m2"), ("e2m3", "e5m2"), ("e2m1", "e3m2")]


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_products(one: str, other: str) -> None:
    """Of numbers whose sums no instruction rounds, by the instruction on the types themselves."""
    (a, left), (b, right) = factor(one), factor(other)
    c = np.zeros((64, 64), np.float32)
    compiled = product.compile(a, b, c, TYPES[one], TYPES[other])
    types = ["e4m3" if name == "e2m1" else name for name in (one, other)]
    assert f"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.{'.'.join(types)}" in compiled.ptx
    product[1](a, b, c, TYPES[one], TYPES[other])
    np.testing.assert_array_equal(c, left @ right.T)


@tilec.kernel(warps=4, target="sm_120a")
def scaled(
    a: Bytes,
    scale_a: Bytes,
    b: Bytes,
    scale_b: Bytes,
    c: tl.Array[tl.float32, int, int],
    type_a: tl.Constant[Any],
    type_b: tl.Constant[Any],
) -> None:
    acc = tl.zeros((64, 64))
    for k in range(0, 128, 64):
        x = tl.load(a, (0, k), (64, 64), dtype=type_a)
        y = tl.load(b, (0, k), (64, 64), dtype=type_b).T
        p = tl.load(scale_a, (0, k // 32), (64, 2), dtype=tl.float8_e8m0fnu)
        q = tl.load(scale_b, (0, k // 32), (64, 2), dtype=tl.float8_e8m0fnu).T
        acc = tl.dot_scaled(x, p, y, q, acc)
    tl.store(c, (0, 0), acc)


@pytest.mark.parametrize(("one", "other"), [("e2m3", "e3m2"), ("e4m3", "e2m3"), ("e3m2", "e2m1")])
def test_products_with_scales(one: str, other: str) -> None:
    held = [quantize(RANDOM.standard_normal((64, 128)), n, "ue8m0", 32) for n in (one, other)]
    arrays = []
    for name, made in zip((one, other), held, strict=True):
        codes = np.asarray(made.elements).view(np.uint8)
        packed = codes[:, ::2] & 15 | codes[:, 1::2] << 4 if name == "e2m1" else codes
        arrays += [packed, made.scales.view(np.uint8)]
    c = np.zeros((64, 64), np.float32)
    report = scaled[1](*arrays, c, TYPES[one], TYPES[other])
    assert report is not None
    assert not report.findings
    wanted = dequantize(held[0]) @ dequantize(held[1]).T
    np.testing.assert_allclose(c, wanted, rtol=1e-4, atol=1e-4)


def test_a_target_without_such_products() -> None:
    a, c = np.zeros((64, 128), np.uint8), np.zeros((64, 64), np.float32)
    with pytest.raises(tl.KernelError, match=r":\d+:\d+: error: .* no instruction of sm_90a mult"):
        product.using(target="sm_90a").compile(a, a, c, tl.float6_e2m3fn, tl.float8_e5m2)


MISUSES = {
    "add does not take float6_e2m3fn: cast it first": lambda x: x + x,
    "sort does not take float6_e2m3fn: cast it first": tl.sort,
    "of one type, not float16 and float6_e2m3fn": lambda x: tl.dot(
        tl.zeros((32, 32), tl.float16), x
    ),
    "float6_e2m3fn has 8 bits and uint16 16; a view": lambda x: x.view(tl.uint16),
    "float6_e2m3fn has no scalars; legal: tiles": lambda _: tl.float6_e2m3fn(1.5),
    "no such element type|unknown element type 'float6'": lambda x: x.astype("float6"),
}


@pytest.mark.parametrize("message", MISUSES)
def test_misuses(message: str) -> None:
    misuse = MISUSES[message]

    @tilec.kernel
    def wrong(x: tl.Array[tl.float6_e2m3fn, int, int]) -> None:
        misuse(tl.load(x, (0, 0), (32, 32)))

    with pytest.raises(tl.KernelError, match=rf":\d+:\d+: error: .*({message})"):
        wrong.compile(np.zeros((32, 32), ml_dtypes.float6_e2m3fn))
