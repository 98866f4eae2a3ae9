"""Operators and functions on tiles give what numpy gives, run on the simulator."""

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl

RANDOM = np.random.default_rng(0)


@tilec.kernel
def integers(
    x: tl.Array[tl.int32, int], y: tl.Array[tl.int32, int], out: tl.Array[tl.int32, int, int]
) -> None:
    a, b = tl.load(x, 0, 64), tl.load(y, 0, 64)
    found = (a + b, a - b, 3 * a, a // b, a % b, a & b, a | b, a ^ b, a << (b & 3), a >> (b & 3))
    found += (tl.maximum(a, b), tl.minimum(a, 2), -a, ~a, abs(a), tl.clip(a, -3, 3), a**3)
    found += (tl.where(a > b, a, b), tl.where((a == b) | (a != 4) & (a <= 7), a, 0))
    for at, tile in enumerate(found):
        tl.store(out, (at, 0), tile)


def test_integer_operators() -> None:
    a = RANDOM.integers(-9, 9, 64).astype(np.int32)
    b = (RANDOM.integers(1, 9, 64) * RANDOM.choice([-1, 1], 64)).astype(np.int32)
    out = np.zeros((19, 64), np.int32)
    integers[1](a, b, out)
    expected = [a + b, a - b, 3 * a, a // b, a % b, a & b, a | b, a ^ b, a << (b & 3), a >> (b & 3)]
    expected += [np.maximum(a, b), np.minimum(a, 2), -a, ~a, abs(a), np.clip(a, -3, 3), a**3]
    expected += [np.where(a > b, a, b), np.where((a == b) | (a != 4) & (a <= 7), a, 0)]
    np.testing.assert_array_equal(out, expected)


@tilec.kernel
def unsigned(x: tl.Array[tl.uint8, int], out: tl.Array[tl.uint8, int, int]) -> None:
    a = tl.load(x, 0, 64)
    found = (a + a, a - 7, a // 3, a % 7, a >> 3, tl.maximum(a, 200), (a > 127).astype(tl.uint8))
    for at, tile in enumerate(found):
        tl.store(out, (at, 0), tile)


def test_unsigned_operators() -> None:
    a = RANDOM.integers(0, 256, 64).astype(np.uint8)
    out = np.zeros((7, 64), np.uint8)
    unsigned[1](a, out)
    expected = [a + a, a - np.uint8(7), a // 3, a % 7, a >> 3, np.maximum(a, 200), a > 127]
    np.testing.assert_array_equal(out, expected)


FUNCTIONS: dict[str, Any] = {
    **{n: getattr(np, n) for n in ("exp", "exp2", "log", "log2", "sqrt", "sin", "cos", "tanh")},
    **{n: getattr(np, n) for n in ("floor", "ceil", "abs", "absolute")},
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": np.vectorize(math.erf),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}


@tilec.kernel
def functions(x: tl.Array[tl.float32, int], out: tl.Array[tl.float32, int, int]) -> None:
    a = tl.load(x, 0, 64)
    for at, name in enumerate(FUNCTIONS):
        tl.store(out, (at, 0), getattr(tl, name)(a))


def test_functions() -> None:
    x = np.linspace(0.1, 3, 64).astype(np.float32)
    out = np.zeros((len(FUNCTIONS), 64), np.float32)
    functions[1](x, out)
    for name, found in zip(FUNCTIONS, out, strict=True):
        np.testing.assert_allclose(found, FUNCTIONS[name](x), rtol=2e-5, atol=2e-6, err_msg=name)


@tilec.kernel
def floats(x: tl.Array[tl.float32, int], n: int, out: tl.Array[tl.float32, int, int]) -> None:
    a = tl.load(x, 0, 64)
    found = (a / 3, 1 - a, 2.0**a, a**0.5, -a, a // 0.25, tl.fma(a, 2.0, a), a * n + (n > 3))
    for at, tile in enumerate(found):
        tl.store(out, (at, 0), tile)


def test_float_operators() -> None:
    x = np.linspace(0.1, 3, 64).astype(np.float32)
    out = np.zeros((8, 64), np.float32)
    floats[1](x, 5, out)
    expected = [x / 3, 1 - x, 2.0**x, x**0.5, -x, x // 0.25, 3 * x, x * 5 + 1]
    np.testing.assert_allclose(out, expected, rtol=1e-5)


@tilec.kernel
def extremes(x: tl.Array[tl.float32, int], out: tl.Array[tl.float32, int, int]) -> None:
    a = tl.load(x, 0, 64)
    for at, f in enumerate((tl.maximum, tl.minimum, tl.fmax, tl.fmin)):
        tl.store(out, (at, 0), f(a, 0.5))
    tl.store(out, (4, 0), a.max().reshape(1))


def test_extremes_treat_nan_as_numpy_does() -> None:
    x = RANDOM.standard_normal(64).astype(np.float32)
    x[5] = np.nan
    out = np.zeros((5, 64), np.float32)
    extremes[1](x, out)
    half = np.float32(0.5)
    pairs = (np.maximum, np.minimum, np.fmax, np.fmin)
    np.testing.assert_array_equal(out[:4], [f(x, half) for f in pairs])
    assert np.isnan(out[4, 0])


@tilec.kernel
def cast(x: tl.AnyArray, y: tl.AnyArray) -> None:
    tl.store(y, 0, tl.load(x, 0, 64).astype(y.dtype))


TYPES = (np.float32, np.float16, ml_dtypes.bfloat16, np.float64, np.int8, np.int32, np.uint16)


@pytest.mark.parametrize("source", TYPES)
def test_casts(source: Any) -> None:
    x = RANDOM.integers(0, 100, 64).astype(source)
    for target in (*TYPES, np.bool_, ml_dtypes.float8_e5m2):
        y = np.zeros(64, target)
        cast[1](x, y)
        np.testing.assert_array_equal(y, x.astype(np.float32).astype(target), err_msg=str(target))


@tilec.kernel
def shapes(x: tl.Array[tl.float32, int, int], out: tl.Array[tl.float32, int, int]) -> None:
    v = tl.load(x, (0, 0), (16, 32))
    w = v.T.reshape(16, -1) + v.sum(axis=0)[None, :] + v.max(1, keepdims=True)
    w += tl.transpose(v.reshape(4, 4, 32), (1, 0, 2)).reshape(16, 32)
    w += v.sum() + v.min() + tl.squeeze(tl.expand_dims(v, 0), 0)
    w += tl.prod(tl.where(v > 2, v, 1.0), axis=1)[..., None]
    w += tl.any(v > 2, axis=1).astype(tl.float32)[:, None] + tl.all(v > -2, axis=0)
    places = tl.arange(16)[:, None] * 32 + tl.arange(3, 35) + tl.full(32, 2)
    w += places.astype(tl.float32) + tl.ones((16, 1))
    tl.store(out, (0, 0), w)


def test_shapes_and_reductions() -> None:
    v = RANDOM.standard_normal((16, 32)).astype(np.float32)
    out = np.zeros_like(v)
    shapes[1](v, out)
    w = v.T.reshape(16, -1) + v.sum(axis=0)[None, :] + v.max(1, keepdims=True)
    w = w + v.reshape(4, 4, 32).transpose(1, 0, 2).reshape(16, 32) + v.sum() + v.min() + v
    w = w + np.prod(np.where(v > 2, v, 1), axis=1)[..., None]
    w = w + np.any(v > 2, axis=1)[:, None] + np.all(v > -2, axis=0)
    w = w + np.arange(16)[:, None] * 32 + np.arange(3, 35) + 1 + 2
    np.testing.assert_allclose(out, w, rtol=1e-4, atol=1e-4)
