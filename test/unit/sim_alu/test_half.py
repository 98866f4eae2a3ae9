"""f16 and bf16 arithmetic equals the exact result rounded once, on elements and on pairs."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

COUNT = 1500
TYPES = {"f16": (np.float16, 5, 10), "bf16": (ml_dtypes.bfloat16, 8, 7)}


def operands(type_, seed):
    """Uniform bits, numbers close to one another, and products that end in the subnormals."""
    rng = np.random.default_rng(seed)
    exponent, mantissa = TYPES[type_][1:]
    uniform = rng.integers(0, 2**16, (3, COUNT)).astype("u2")
    bias = 2 ** (exponent - 1) - 1
    near = (bias + rng.integers(-4, 5, (3, COUNT))) << mantissa
    near = near | rng.integers(0, 2**mantissa, (3, COUNT)) | rng.integers(0, 2, (3, COUNT)) << 15
    small = ((bias // 2 + rng.integers(-6, 4, (3, COUNT))) << mantissa) | rng.integers(
        0, 2**mantissa, (3, COUNT)
    )
    pool = rng.integers(0, 3, COUNT)
    return list(np.choose(pool, [uniform, near, small]).astype("u2"))


def values(type_, bits):
    with np.errstate(all="ignore"):
        return bits.view(TYPES[type_][0]).astype("f8").tolist()


def check(type_, text, run, rounded, arity, exact, transform=lambda v: v):
    bits = operands(type_, arity)[:arity]
    got = run(f"{text}.{type_}", *bits)
    checked = 0
    for i, v in enumerate(zip(*(values(type_, b) for b in bits), strict=True)):
        with np.errstate(all="ignore"):
            plain = exact(*map(np.float64, v))
        if math.isnan(plain):
            assert got[i] == (0 if "sat" in text else 0x7FFF)
        elif math.isinf(plain):
            infinity = ((1 << TYPES[type_][1]) - 1) << TYPES[type_][2]
            if "sat" not in text and "relu" not in text:
                assert got[i] == infinity | ((plain < 0) << 15)
        elif value := transform(exact(*map(Fraction, v))):
            checked += 1
            assert int(got[i]) == rounded(Fraction(value), *TYPES[type_][1:]), (text, v)
    assert checked > COUNT // 4


@pytest.mark.parametrize("type_", TYPES)
def test_results_are_rounded_once(type_, run, rounded):
    check(type_, "add", run, rounded, 2, lambda a, b: a + b)
    check(type_, "sub", run, rounded, 2, lambda a, b: a - b)
    check(type_, "mul", run, rounded, 2, lambda a, b: a * b)
    check(type_, "fma.rn", run, rounded, 3, lambda a, b, c: a * b + c)


def test_saturation_and_relu(run, rounded):
    clamp = lambda v: min(max(v, 0), 1)  # noqa: E731
    relu = lambda v: max(v, 0)  # noqa: E731
    check("f16", "add.sat", run, rounded, 2, lambda a, b: a + b, clamp)
    check("f16", "fma.rn.sat", run, rounded, 3, lambda a, b, c: a * b + c, clamp)
    check("f16", "fma.rn.relu", run, rounded, 3, lambda a, b, c: a * b + c, relu)
    check("bf16", "fma.rn.relu", run, rounded, 3, lambda a, b, c: a * b + c, relu)
    for type_, one in (("f16", 0x3C00), ("bf16", 0x3F80)):
        minus, zero = np.array([one | 0x8000], "u2"), np.array([0], "u2")
        assert run(f"fma.rn.relu.{type_}", minus, zero, zero | 0x8000)[0] == 0
        assert run(f"fma.rn.{type_}", minus, zero, zero | 0x8000)[0] == 0x8000


def test_flushing(run):
    tiny, one = np.array([0x8001], "u2"), np.array([0x3C00], "u2")
    assert run("add.ftz.f16", tiny, one * 0)[0] == 0
    assert run("mul.ftz.f16", tiny, one)[0] == 0x8000
    assert run("mul.f16", tiny, one)[0] == 0x8001
    least, half = np.array([0x0400], "u2"), np.array([0x3800], "u2")
    assert run("mul.ftz.f16", least, half)[0] == 0
    assert run("neg.ftz.f16", tiny)[0] == 0
    assert run("abs.ftz.f16", tiny)[0] == 0


@pytest.mark.parametrize("type_", TYPES)
def test_pairs_are_two_independent_operations(type_, run):
    first, second = operands(type_, 5), operands(type_, 6)
    pairs = [
        x.astype("u4") | (y.astype("u4") << np.uint32(16))
        for x, y in zip(first, second, strict=True)
    ]
    for text, arity in (
        ("add", 2),
        ("mul", 2),
        ("fma.rn.relu", 3),
        ("min.NaN", 2),
        ("neg", 1),
        ("tanh.approx", 1),
    ):
        low = run(f"{text}.{type_}", *first[:arity]).astype("u4")
        high = run(f"{text}.{type_}", *second[:arity]).astype("u4")
        got = run(f"{text}.{type_}x2", *pairs[:arity])
        np.testing.assert_array_equal(got, low | (high << np.uint32(16)))
