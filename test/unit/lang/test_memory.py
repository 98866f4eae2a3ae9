"""Loads and stores of any rank with bounds, atomics, elements of 4 bits; products of every type."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.runtime import dequantize, pack, quantize

RANDOM = np.random.default_rng(0)


@tilec.kernel
def copy(x: tl.AnyArray, y: tl.Array[tl.float32, *tuple[int, ...]], shift: int) -> None:
    at = (shift,) * x.ndim
    tile = tl.load(x, at, (8,) * x.ndim, fill=1)
    tl.store(y, (0,) * x.ndim, tile.astype(y.dtype))


@pytest.mark.parametrize("shape", [(5,), (3, 7), (2, 3, 4)])
@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.bool_, np.float64])
@pytest.mark.parametrize("shift", [0, 1, -2])
def test_bounds(shape: tuple[int, ...], dtype: Any, shift: int) -> None:
    x = RANDOM.integers(0, 3, shape).astype(dtype)
    y = np.zeros((8,) * x.ndim, np.float32)
    copy[1](x, y, shift)
    places = np.meshgrid(*[np.arange(8) + shift] * x.ndim, indexing="ij")
    inside = np.all([(p >= 0) & (p < n) for p, n in zip(places, shape, strict=True)], axis=0)
    expected = np.where(inside, 0, np.array(1).astype(dtype)).astype(np.float32)
    expected[inside] = x[tuple(p[inside] for p in places)]
    np.testing.assert_array_equal(y, expected)


@tilec.kernel
def transposed(x: tl.Array[tl.float32, int, int], y: tl.Array[tl.float32, int, int]) -> None:
    tl.store(y, (0, 0), tl.load(x, (0, 0), (32, 16)).T)


@pytest.mark.parametrize("column_major", [False, True])
def test_strides(column_major: bool) -> None:
    x = RANDOM.standard_normal((64, 40)).astype(np.float32)
    x = np.asfortranarray(x)[:21, :13] if column_major else x[::2, :13]
    y = np.zeros((16, 32), np.float32)
    transposed[1](x, y)
    rows = min(32, x.shape[0])
    np.testing.assert_array_equal(y[:13, :rows], x[:rows].T)
    assert not y[13:].any()


@tilec.kernel
def nibbles(
    x: tl.Array[tl.int4, int, int],
    raw: tl.Array[tl.uint8, int, int],
    y: tl.Array[tl.int32, int, int],
) -> None:
    for j in range(0, x.shape[1], 16):
        signed = tl.load(x, (0, j), (8, 16)).astype(tl.int32)
        unsigned = tl.load(raw, (0, j), (8, 16), dtype=tl.uint4).astype(tl.int32)
        tl.store(y, (0, j), signed * 100 + unsigned)


def test_elements_of_four_bits() -> None:
    values = RANDOM.integers(-8, 8, (8, 40))
    packed = ((values[:, 0::2] & 15) | ((values[:, 1::2] & 15) << 4)).astype(np.uint8)
    y = np.zeros((8, 48), np.int32)
    nibbles[1](packed, packed, y)
    np.testing.assert_array_equal(y[:, :40], values * 100 + (values & 15))
    assert not y[:, 40:].any()


@tilec.kernel
def counted(
    x: tl.Array[tl.float32, int], total: tl.Array[tl.float32, int], most: tl.Array[tl.int32, int]
) -> None:
    tile = tl.load(x, tl.program_id(0) * 64, 64)
    tl.atomic_add(total, 0, tile.sum())
    tl.atomic_max(most, 0, tile.astype(tl.int32).max())
    tl.atomic_min(most, 1, -tile.astype(tl.int32).max())
    tl.atomic_add(most, 2, tl.full(1, tl.num_programs(0), tl.int32))


def test_atomics() -> None:
    x = np.arange(300, dtype=np.float32)
    total, most = np.zeros(1, np.float32), np.zeros(3, np.int32)
    counted[5](x, total, most)
    assert total[0] == x.sum()
    assert most.tolist() == [299, -299, 25]


@tilec.kernel
def product(
    a: tl.AnyArray,
    b: tl.AnyArray,
    c: tl.AnyArray,
    T: tl.Constant[Any] = None,  # noqa: N803
) -> None:
    x, y = tl.load(a, (0, 0), (32, 64)), tl.load(b, (0, 0), (64, 32))
    if T is not None:
        x, y = x.astype(T), y.astype(T)
    tl.store(c, (0, 0), tl.dot(x, y, dtype=c.dtype))


@pytest.mark.parametrize(
    ("dtype", "result", "multiplied", "target"),
    [
        (np.float16, np.float32, None, "sm_75"),
        (np.float16, np.float16, None, "sm_80"),
        (ml_dtypes.bfloat16, np.float32, None, "sm_80"),
        (np.float32, np.float32, tl.tfloat32, "sm_80"),
        (np.float64, np.float64, None, "sm_80"),
        (np.int8, np.int32, None, "sm_80"),
        (np.uint8, np.int32, None, "sm_90a"),
        (np.int8, np.float32, tl.float16, "sm_80"),
        (ml_dtypes.float8_e4m3fn, np.float32, None, "sm_89"),
        (ml_dtypes.float8_e5m2, np.float32, None, "sm_120a"),
    ],
)
def test_products(dtype: Any, result: Any, multiplied: Any, target: str) -> None:
    low = 0 if np.dtype(dtype).kind == "u" else -4
    a = RANDOM.integers(low, 5, (32, 64)).astype(dtype)
    b = RANDOM.integers(low, 5, (64, 32)).astype(dtype)
    c = np.zeros((32, 32), result)
    product.using(target=target)[1](a, b, c, multiplied)
    np.testing.assert_array_equal(c, (a.astype(float) @ b.astype(float)).astype(result))


@tilec.kernel
def scaled(
    a: tl.AnyArray,
    p: tl.AnyArray,
    b: tl.AnyArray,
    q: tl.AnyArray,
    c: tl.Array[tl.float32, int, int],
    T: tl.Constant[Any],  # noqa: N803
    BLOCK: tl.Constant[int],  # noqa: N803
) -> None:
    x = tl.load(a, (0, 0), (32, 128), dtype=T)
    y = tl.load(b, (0, 0), (32, 128), dtype=T).T
    scales = (32, 128 // BLOCK)
    tile = tl.dot_scaled(x, tl.load(p, (0, 0), scales), y, tl.load(q, (0, 0), scales).T)
    tl.store(c, (0, 0), tile)


@pytest.mark.parametrize(
    ("element", "scale", "block", "dtype"),
    [("e4m3", "ue8m0", 32, tl.float8_e4m3fn), ("e2m1", "ue4m3", 16, tl.float4_e2m1fn)],
)
def test_scaled_products(element: str, scale: str, block: int, dtype: Any) -> None:
    a, b = (quantize(RANDOM.standard_normal((32, 128)), element, scale, block) for _ in range(2))
    c = np.zeros((32, 32), np.float32)
    held = [pack(m.elements, "e2m1") if element == "e2m1" else m.elements for m in (a, b)]
    kernel = scaled.using(target="sm_120a")
    kernel[1](held[0], a.scales, held[1], b.scales, c, dtype, block)
    expected = dequantize(a) @ dequantize(b).T / (a.factor * b.factor)
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max())
