"""Approximate functions stay within the errors, and give the special values, of the PTX ISA."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

INF, NAN = math.inf, math.nan


def bits(values):
    return np.array(values, "f4").view("u4")


def spread(low, high, signed=False, count=4000):
    rng = np.random.default_rng(1)
    values = 2.0 ** rng.uniform(low, high, count)
    return (values * rng.choice([-1, 1], count) if signed else values).astype("f4")


# the bound of each function: of the error over the result, or of the error itself
RELATIVE = {
    "rcp": (lambda x: 1 / x, spread(-126, 126, signed=True), 2.0**-23),
    "sqrt": (math.sqrt, spread(-126, 128), 2.0**-23),
    "rsqrt": (lambda x: 1 / math.sqrt(x), spread(-126, 128), 2.0**-22.9),
    "ex2": (lambda x: 2.0**x, spread(-20, 6.9, signed=True), 2.0**-22.5),
    "tanh": (math.tanh, spread(-100, 8, signed=True), 2.0**-11),
}
ABSOLUTE = {
    "sin": (math.sin, spread(-20, 2.6, signed=True), 2.0**-20.5),
    "cos": (math.cos, spread(-20, 2.6, signed=True), 2.0**-20.5),
    "lg2": (math.log2, spread(-1, 1), 2.0**-22),
}


@pytest.mark.parametrize("name", RELATIVE)
def test_relative_error(name, run):
    function, x, bound = RELATIVE[name]
    got = run(f"{name}.approx.f32", x.view("u4")).view("f4").astype("f8")
    want = np.array([function(v) for v in x.tolist()])
    assert np.max(np.abs(got / want - 1)) <= bound


@pytest.mark.parametrize("name", ABSOLUTE)
def test_absolute_error(name, run):
    function, x, bound = ABSOLUTE[name]
    got = run(f"{name}.approx.f32", x.view("u4")).view("f4").astype("f8")
    want = np.array([function(v) for v in x.tolist()])
    assert np.max(np.abs(got - want)) <= bound


SUBNORMAL = 1e-40
# PTX ISA, the tables of special values: operand, then result
SPECIAL = {
    "rcp.approx.f32": [(-INF, -0.0), (-0.0, -INF), (0.0, INF), (INF, 0.0), (NAN, NAN)],
    "rcp.approx.ftz.f32": [(-SUBNORMAL, -INF), (SUBNORMAL, INF), (2.0**127, 0.0)],
    "sqrt.approx.f32": [(-INF, NAN), (-1.0, NAN), (-0.0, -0.0), (0.0, 0.0), (INF, INF)],
    "sqrt.approx.ftz.f32": [(-SUBNORMAL, -0.0), (SUBNORMAL, 0.0)],
    "rsqrt.approx.f32": [(-INF, NAN), (-1.0, NAN), (-0.0, -INF), (0.0, INF), (INF, 0.0)],
    "rsqrt.approx.ftz.f32": [(-SUBNORMAL, -INF), (SUBNORMAL, INF)],
    "sin.approx.f32": [(-INF, NAN), (-0.0, -0.0), (0.0, 0.0), (INF, NAN), (NAN, NAN)],
    "sin.approx.ftz.f32": [(-SUBNORMAL, -0.0), (SUBNORMAL, 0.0)],
    "cos.approx.f32": [(-INF, NAN), (-0.0, 1.0), (0.0, 1.0), (INF, NAN)],
    "lg2.approx.f32": [(-INF, NAN), (-1.0, NAN), (-0.0, -INF), (0.0, -INF), (INF, INF)],
    "lg2.approx.ftz.f32": [(-SUBNORMAL, -INF), (SUBNORMAL, -INF)],
    "ex2.approx.f32": [(-INF, 0.0), (-SUBNORMAL, 1.0), (-0.0, 1.0), (INF, INF), (NAN, NAN)],
    "ex2.approx.ftz.f32": [(-127.0, 0.0), (SUBNORMAL, 1.0)],
    "tanh.approx.f32": [(-INF, -1.0), (-0.0, -0.0), (SUBNORMAL, SUBNORMAL), (INF, 1.0)],
}


@pytest.mark.parametrize("text", SPECIAL)
def test_special_values(text, run):
    for operand, result in SPECIAL[text]:
        got = run(text, bits([operand]))
        want = 0x7FFFFFFF if math.isnan(result) else bits([result])[0]
        assert got[0] == want, operand


def test_division(run):
    a, b = spread(-60, 60, signed=True), spread(-60, 60, signed=True)[::-1].copy()
    exact = a.astype("f8") / b.astype("f8")
    for text in ("div.approx.f32", "div.full.f32", "div.approx.ftz.f32"):
        got = run(text, a.view("u4"), b.view("u4")).view("f4")
        ulp = np.spacing(np.abs(exact).astype("f4")).astype("f8")
        assert np.max(np.abs(got - exact) / ulp) <= 2
    large = bits([-1.5 * 2.0**126])
    assert run("div.approx.f32", bits([4.0]), large)[0] == bits([-0.0])[0]
    assert run("div.approx.f32", bits([INF]), large)[0] == 0x7FFFFFFF
    assert run("div.full.f32", bits([2.0**127]), large).view("f4")[0] == np.float32(-4 / 3)


@pytest.mark.parametrize(("type_", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_half_precision(type_, dtype, run):
    every = np.arange(2**16).astype("u2")
    with np.errstate(all="ignore"):
        x = every.view(dtype).astype("f8")
    exponential = run("ex2.approx.f16" if type_ == "f16" else "ex2.approx.ftz.bf16", every)
    tangent = run(f"tanh.approx.{type_}", every)
    for got, function in ((exponential, np.exp2), (tangent, np.tanh)):
        with np.errstate(all="ignore"):
            want = function(x)
            number = got.view(dtype).astype("f8")
            normal = np.isfinite(want) & (np.abs(want) > 2.0**-14) & (np.abs(want) < 65504)
            assert np.max(np.abs(number[normal] / want[normal] - 1)) <= 2.0**-7
        np.testing.assert_array_equal(got[np.isnan(x)], 0x7FFF)
        assert number[np.isposinf(x)][0] == want[np.isposinf(x)][0]
        assert number[np.isneginf(x)][0] == want[np.isneginf(x)][0]


@pytest.mark.parametrize(
    ("name", "function"), [("rcp", lambda x: 1 / x), ("rsqrt", lambda x: x**-0.5)]
)
def test_gross_f64(name, function, run):
    rng = np.random.default_rng(2)
    x = 2.0 ** rng.uniform(-1000, 1000, 2000)
    got = run(f"{name}.approx.ftz.f64", x.view("u8"))
    assert not (got & np.uint64(2**32 - 1)).any()
    assert np.max(np.abs(got.view("f8") / function(x) - 1)) <= 2.0**-19
    special = np.array([0.0, -0.0, 1e-310, INF, NAN]).view("u8")
    got = run(f"{name}.approx.ftz.f64", special)
    assert got[-1] == 0x7FFFFFFF << 32
    np.testing.assert_array_equal(got[:4].view("f8"), [INF, -INF, INF, 0.0])


def test_rsqrt_f64(run):
    x = 2.0 ** np.random.default_rng(3).uniform(-1000, 1000, 2000)
    got = run("rsqrt.approx.f64", x.view("u8")).view("f8")
    assert np.max(np.abs(got * np.sqrt(x) - 1)) <= 2.0**-50
