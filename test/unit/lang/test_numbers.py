"""Random numbers, and functions of numbers, against formulas coded apart and numpy."""

import math
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

RANDOM = np.random.default_rng(0)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_120a")


@tilec.kernel
def bits_of(
    counters: tl.Array[tl.uint32, int, int], out: tl.Array[tl.uint32, int, int], seed: int
) -> None:
    words = [tl.load(counters, (number, 0), 32) for number in tl.static_range(4)]
    found = tl.philox(seed, *words)
    for number in tl.static_range(4):
        tl.store(out, (number, 0), found[number])


def philox(counter: tuple[int, ...], key: tuple[int, int]) -> tuple[int, ...]:
    """As the paper has it, on Python's integers."""
    a, b, c, d = counter
    for number in range(10):
        steps = zip(key, (0x9E3779B9, 0xBB67AE85), strict=True)
        k = [(word + number * step) % 2**32 for word, step in steps]
        one, other = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (
            (other >> 32) ^ b ^ k[0],
            other % 2**32,
            (one >> 32) ^ d ^ k[1],
            one % 2**32,
        )
    return a, b, c, d


KNOWN = {  # the vectors that come with Random123
    ((0,) * 4, (0, 0)): (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ((2**32 - 1,) * 4, (2**32 - 1,) * 2): (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344), (0xA4093822, 0x299F31D0)): (
        0xD16CFE09,
        0x94FDCCEB,
        0x5001E420,
        0x24126EA1,
    ),
}


@pytest.mark.parametrize(("given", "expected"), KNOWN.items(), ids=["zeros", "ones", "pi"])
def test_known_vectors(given: Any, expected: tuple[int, ...]) -> None:
    counter, key = given
    assert philox(counter, key) == expected
    words = np.repeat(np.array(counter, np.uint32)[:, None], 32, 1)
    out = np.zeros((4, 32), np.uint32)
    seed = key[0] | key[1] << 32
    bits_of[1](words, out, seed - 2**64 if seed >> 63 else seed)
    assert [tuple(line) for line in out.T.tolist()] == [expected] * 32


@pytest.mark.parametrize("target", TARGETS)
def test_counters(target: str) -> None:
    words = RANDOM.integers(0, 2**32, (4, 32), np.uint64).astype(np.uint32)
    out = np.zeros((4, 32), np.uint32)
    bits_of.using(target=target)[1](words, out, -12345678901234)
    key = (-12345678901234 % 2**32, -12345678901234 % 2**64 >> 32)
    for column in range(32):
        counter = tuple(int(word) for word in words[:, column])
        assert tuple(out[:, column].tolist()) == philox(counter, key)


@tilec.kernel
def drawn(out: tl.Array[tl.float32, int, int], seed: int) -> None:
    at = tl.int32(tl.program_id(0)) * 1024 + tl.arange(1024)
    tl.store(out, (0, tl.program_id(0) * 1024), tl.rand(seed, at).reshape(1, 1024))
    tl.store(out, (1, tl.program_id(0) * 1024), tl.randn(seed, at).reshape(1, 1024))


def test_distributions() -> None:
    """Means, variances and what follows what, within five standard deviations of 16384 draws."""
    count = 16384
    out, again, other = np.zeros((3, 2, count), np.float32)
    for array, seed in ((out, 7), (again, 7), (other, 8)):
        drawn[16](array, seed)
    np.testing.assert_array_equal(out, again)
    assert not np.any(np.all(out == other, axis=0))
    uniform, normal = out.astype(np.float64)
    assert 0 <= uniform.min() < 0.001
    assert 0.999 < uniform.max() < 1
    deviation = 5 / math.sqrt(count)
    assert abs(uniform.mean() - 0.5) < deviation * math.sqrt(1 / 12)
    assert abs(np.corrcoef(uniform[1:], uniform[:-1])[0, 1]) < deviation
    assert abs(normal.mean()) < deviation
    assert abs(normal.var() - 1) < deviation * math.sqrt(2)
    counts, _ = np.histogram(uniform, 16, (0, 1))
    assert ((counts - count / 16) ** 2 / (count / 16)).sum() < 50  # chi squared, 15 degrees


@tilec.kernel
def uppers(x: tl.AnyArray, y: tl.AnyArray, out: tl.AnyArray) -> None:
    tl.store(out, 0, tl.umulhi(tl.load(x, 0, 64), tl.load(y, 0, 64)))


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
def test_umulhi(dtype: Any) -> None:
    bits = np.dtype(dtype).itemsize * 8
    held = RANDOM.integers(0, 2**bits - 1, (2, 64), np.uint64, endpoint=True)
    held[:, :2] = 2**bits - 1
    x, y = held.astype(f"u{bits // 8}").view(dtype)
    out = np.zeros(64, dtype)
    uppers[1](x, y, out)
    expected = [int(a) * int(b) >> bits for a, b in zip(*held.astype(f"u{bits // 8}"), strict=True)]
    assert out.view(f"u{bits // 8}").tolist() == expected


@tilec.kernel
def applied(x: tl.AnyArray, y: tl.AnyArray, fn: tl.Constant[Any], shape: tl.Constant[Any]) -> None:
    tl.store(y, (0,) * y.ndim, fn(tl.load(x, (0,) * x.ndim, shape)).astype(y.dtype))


def run(fn: Any, x: Any, y: Any, **settings: Any) -> Any:
    applied.using(**settings)[1](x, y, fn, x.shape)
    return y


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
@pytest.mark.parametrize("name", ["rint", "round", "trunc", "isnan", "isinf", "isfinite"])
def test_functions_that_are_exact(name: str, dtype: Any) -> None:
    x = (RANDOM.integers(-40, 40, 64) / 4).astype(dtype)
    x[:6] = [np.nan, np.inf, -np.inf, -0.0, 0.5, -2.5]
    expected = getattr(np, name)(x)
    y = run(getattr(tl, name), x, np.zeros(64, expected.dtype))
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", ["expm1", "log1p", "log10"])
def test_functions_near_zero(name: str, target: str) -> None:
    x = np.exp(RANDOM.uniform(-20, 2, 64)).astype(np.float32)
    y = run(getattr(tl, name), x, np.zeros(64, np.float32), target=target)
    np.testing.assert_allclose(y, getattr(np, name)(x.astype(np.float64)), rtol=1e-6)


def test_powers() -> None:
    x = RANDOM.uniform(0.1, 9, 64).astype(np.float32)
    y = run(lambda t: tl.pow(t, 2.5), x, np.zeros(64, np.float32))
    np.testing.assert_allclose(y, x**2.5, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8, np.float64, np.bool_])
@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("keepdims", [False, True])
def test_means_and_variances(dtype: Any, axis: int | None, keepdims: bool) -> None:
    x = RANDOM.integers(-8, 8, (8, 32)).astype(dtype)
    for name, options in (("mean", {}), ("var", {}), ("var", {"ddof": 1}), ("std", {})):
        wide = x.astype(np.float64)
        expected = getattr(np, name)(wide, axis, keepdims=keepdims, **options)
        y = np.zeros(expected.shape or 1, np.float64)

        def fn(t: Any, name: str = name, options: Any = options) -> Any:
            return getattr(tl, name)(t, axis, keepdims=keepdims, **options)

        run(fn, x, y)
        np.testing.assert_allclose(y.reshape(expected.shape), expected, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("name", ["argmax", "argmin", "mean", "cumsum"])
def test_methods(name: str) -> None:
    x = RANDOM.permutation(64).astype(np.float32)
    expected = getattr(x, name)()
    y = np.zeros(np.shape(expected) or 1, np.float64)
    run(lambda t: getattr(t, name)(), x, y)
    np.testing.assert_allclose(y.reshape(np.shape(expected)), expected)
