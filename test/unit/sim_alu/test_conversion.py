"""`cvt` between scalar types: rationals rounded by definition, clamped, NaN as the ISA says."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

INTEGERS = ("u8", "u16", "u32", "u64", "s8", "s16", "s32", "s64")
FLOATS = {
    "f16": (np.float16, 5, 10),
    "bf16": (ml_dtypes.bfloat16, 8, 7),
    "f32": (np.float32, 8, 23),
    "f64": (np.float64, 11, 52),
}
NAN = {"f16": 0x7FFF, "bf16": 0x7FFF, "f32": 0x7FFFFFFF}
WHOLE = {"rni": round, "rzi": math.trunc, "rmi": math.floor, "rpi": math.ceil}


def limits(type_):
    info = np.iinfo(f"{'i' if type_[0] == 's' else 'u'}{int(type_[1:]) // 8}")
    return int(info.min), int(info.max)


def integers(type_, seed=0, count=200):
    """Edges of every type that fit, and uniform bits of every magnitude."""
    width = int(type_[1:])
    rng = np.random.default_rng(seed)
    edges = [v + d for t in INTEGERS for v in limits(t) for d in (-1, 0, 1)]
    edges += [2**k + d for k in range(64) for d in (-1, 1)]
    uniform = [int(rng.integers(0, 2**63)) >> int(rng.integers(0, 63)) for _ in range(count)]
    bits = np.array([v % 2**width for v in edges + uniform], dtype=f"u{width // 8}")
    return bits, bits.view(f"{'i' if type_[0] == 's' else 'u'}{width // 8}").tolist()


def floats(type_, nearby, seed=0):
    dtype = FLOATS[type_][0]
    bits = nearby(8 * np.dtype(dtype).itemsize, 500, seed)
    rng = np.random.default_rng(seed)
    edges = [float(v + d) for t in INTEGERS for v in limits(t) for d in (-1, -0.5, 0, 0.5, 1)]
    with np.errstate(all="ignore"):
        near = np.array(edges + list(rng.integers(-99, 99, 99) / 2)).astype(dtype)
        bits = np.concatenate([bits, near.view(bits.dtype)])
        return bits, bits.view(dtype).astype("f8").tolist()


@pytest.mark.parametrize("source", INTEGERS)
def test_integers(source, run):
    bits, values = integers(source)
    for target in INTEGERS:
        width, (low, high) = int(target[1:]), limits(target)
        got = run(f"cvt.{target}.{source}", bits)
        np.testing.assert_array_equal(got, [v % 2**width for v in values])
        if low <= limits(source)[0] and limits(source)[1] <= high:
            continue
        got = run(f"cvt.sat.{target}.{source}", bits)
        np.testing.assert_array_equal(got, [min(max(v, low), high) % 2**width for v in values])


@pytest.mark.parametrize("source", INTEGERS)
@pytest.mark.parametrize("target", FLOATS)
def test_integers_to_floats(source, target, run, rounded):
    bits, values = integers(source)
    for mode in ("rn", "rz", "rm", "rp"):
        got = run(f"cvt.{mode}.{target}.{source}", bits)
        want = [rounded(Fraction(v), *FLOATS[target][1:], mode) if v else 0 for v in values]
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_to_integers(source, target, run, nearby):
    bits, values = floats(source, nearby)
    width, (low, high) = int(target[1:]), limits(target)
    for mode, whole in WHOLE.items():
        want = []
        for v in values:
            if math.isnan(v):
                want.append(2 ** (width - 1) if "64" in source + target else 0)
            else:
                inside = whole(v) if math.isfinite(v) else math.copysign(2**70, v)
                want.append(int(min(max(inside, low), high)) % 2**width)
        got = run(f"cvt.{mode}.{target}.{source}", bits)
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("source", FLOATS)
@pytest.mark.parametrize("target", FLOATS)
def test_floats_to_narrower_floats(source, target, run, rounded, nearby):
    narrowing = FLOATS[source][2] > FLOATS[target][2] or (source, target) == ("bf16", "f16")
    if not narrowing:
        return
    bits, values = floats(source, nearby, 3)
    for mode in ("rn", "rz", "rm", "rp"):
        got = run(f"cvt.{mode}.{target}.{source}", bits)
        for i, v in enumerate(values):
            if math.isnan(v):
                assert got[i] == NAN[target]
            elif v == 0 or math.isinf(v):
                assert got[i] == np.array([v]).astype(FLOATS[target][0]).view(got.dtype)[0]
            else:
                assert int(got[i]) == rounded(Fraction(v), *FLOATS[target][1:], mode), (mode, v)


def test_widening_keeps_every_value(run):
    bits = np.arange(2**16).astype("u2")
    for source in ("f16", "bf16"):
        with np.errstate(all="ignore"):
            want = bits.view(FLOATS[source][0])
            for target in ("f32", "f64"):
                number = want.astype(FLOATS[target][0])
                got = run(f"cvt.{target}.{source}", bits).view(FLOATS[target][0])
                np.testing.assert_array_equal(got, number)
                np.testing.assert_array_equal(
                    np.signbit(got[~np.isnan(got)]), np.signbit(number[~np.isnan(got)])
                )


@pytest.mark.parametrize("type_", FLOATS)
def test_rounding_to_whole_floats(type_, run, nearby):
    bits, values = floats(type_, nearby, 5)
    for mode, whole in WHOLE.items():
        got = run(f"cvt.{mode}.{type_}.{type_}", bits).view(FLOATS[type_][0]).astype("f8")
        for i, v in enumerate(values):
            want = math.copysign(whole(v), v) if math.isfinite(v) else v
            assert (
                math.isnan(got[i])
                if math.isnan(v)
                else (got[i], np.signbit(got[i])) == (want, v < 0 or np.signbit(v))
            )


def test_saturation_and_flushing(run):
    values = np.array([-1.0, -0.0, 0.25, 1.0, 7.0, np.inf, np.nan], "f4").view("u4")
    want = np.array([0, 0, 0.25, 1, 1, 1, 0])
    for target in ("f16", "f32", "f64"):
        text = {"f16": "cvt.rn.sat.f16.f32", "f32": "cvt.sat.f32.f32", "f64": "cvt.sat.f64.f32"}[
            target
        ]
        got = run(text, values).view(FLOATS[target][0])
        np.testing.assert_array_equal(got, want)
        assert not np.signbit(got).any()
    tiny = np.array([1, 0x80000001], "u4")
    np.testing.assert_array_equal(run("cvt.ftz.f32.f32", tiny), [0, 1 << 31])
    np.testing.assert_array_equal(run("cvt.ftz.f64.f32", tiny), [0, 1 << 63])
    np.testing.assert_array_equal(run("cvt.rpi.s32.f32", tiny), [1, 0])
    np.testing.assert_array_equal(run("cvt.rpi.ftz.s32.f32", tiny), [0, 0])
    small = np.array([2.0**-130], "f8").view("u8")
    assert run("cvt.rn.ftz.f32.f64", small)[0] == 0
    assert run("cvt.rn.f32.f64", small)[0] == 2**19
