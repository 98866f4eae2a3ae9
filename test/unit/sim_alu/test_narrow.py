"""Packed and narrow conversions agree with ml_dtypes, and with the ISA where that has no say.

That is: clamping, `.relu`, the place of each element, scale factors, `.rs`, and `cvt.pack`.
"""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

NARROW = {
    "e4m3": (ml_dtypes.float8_e4m3fn, 448.0, 0x7F, 8),
    "e5m2": (ml_dtypes.float8_e5m2, 57344.0, 0x7F, 8),
    "e2m3": (ml_dtypes.float6_e2m3fn, 7.5, None, 8),
    "e3m2": (ml_dtypes.float6_e3m2fn, 28.0, None, 8),
    "e2m1": (ml_dtypes.float4_e2m1fn, 6.0, None, 4),
}
PAIRS = {"f16": (np.float16, 65504.0), "bf16": (ml_dtypes.bfloat16, 3.3895313892515355e38)}


def singles(seed, count=3000):
    """f32 values: uniform bits, the range of narrow formats, and their exact midpoints."""
    rng = np.random.default_rng(seed)
    uniform = rng.integers(0, 2**32, count, dtype="u4", endpoint=False).view("f4")
    scaled = (rng.normal(size=count) * 2.0 ** rng.integers(-20, 18, count)).astype("f4")
    whole = (rng.integers(-64, 65, count) * 2.0 ** rng.integers(-18, 12, count)).astype("f4")
    edge = np.array([0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 465, 57344, 61440, 65520], "f4")
    return np.choose(rng.integers(0, 4, count), [uniform, scaled, whole, rng.choice(edge, count)])


def clamped(x, name, relu):
    """What a satfinite conversion gives, by ml_dtypes on values inside its range."""
    dtype, largest, nan, _ = NARROW[name]
    inside = np.clip(np.nan_to_num(x, nan=0.0), -largest, largest)
    if relu:
        inside = np.where(inside > 0, inside, np.float32(0))
    codes = inside.astype(dtype).view("u1")
    top = np.array([largest], "f4").astype(dtype).view("u1")[0]
    return np.where(np.isnan(x), top if nan is None else nan, codes)


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("name", NARROW)
def test_from_f32(name, relu, run):
    a, b = singles(1), singles(2)
    bits = NARROW[name][3]
    got = run(f"cvt.rn.satfinite{relu}.{name}x2.f32", a.view("u4"), b.view("u4"))
    high, low = got >> bits, got & ((1 << bits) - 1)
    np.testing.assert_array_equal(high, clamped(a, name, relu))
    np.testing.assert_array_equal(low, clamped(b, name, relu))


@pytest.mark.parametrize("source", PAIRS)
@pytest.mark.parametrize("name", NARROW)
def test_from_pairs(name, source, run):
    bits = np.arange(2**16).astype("u2")
    with np.errstate(all="ignore"):
        values = bits.view(PAIRS[source][0]).astype("f4")
    pairs = bits.astype("u4") << np.uint32(16) | bits[::-1]
    got = run(f"cvt.rn.satfinite.{name}x2.{source}x2", pairs)
    width = NARROW[name][3]
    np.testing.assert_array_equal(got >> width, clamped(values, name, ""))
    np.testing.assert_array_equal(got & ((1 << width) - 1), clamped(values[::-1], name, ""))


@pytest.mark.parametrize("relu", ["", ".relu"])
@pytest.mark.parametrize("target", PAIRS)
@pytest.mark.parametrize("name", NARROW)
def test_to_pairs(name, target, relu, run):
    dtype, _, _, width = NARROW[name]
    codes = np.arange(2**width if width == 4 else 2 ** (8 if "4m3" in name or "5m2" in name else 6))
    values = codes.astype("u1").view(dtype).astype("f4")
    if relu:
        values = np.where(values < 0, 0, values) + np.float32(0)
    want = values.astype(PAIRS[target][0]).view("u2").astype("u4")
    want = np.where(np.isnan(values), 0x7FFF, want)
    register = "u1" if width == 4 else "u2"
    got = run(f"cvt.rn{relu}.{target}x2.{name}x2", (codes << width | codes[::-1]).astype(register))
    np.testing.assert_array_equal(got >> 16, want)
    np.testing.assert_array_equal(got & 0xFFFF, want[::-1])


@pytest.mark.parametrize("target", PAIRS)
def test_pairs_from_f32(target, run):
    a, b = singles(3), singles(4)
    dtype, largest = PAIRS[target]

    def each(x):
        with np.errstate(all="ignore"):
            return np.where(np.isnan(x), 0x7FFF, x.astype(dtype).view("u2")).astype("u4")

    got = run(f"cvt.rn.{target}x2.f32", a.view("u4"), b.view("u4"))
    np.testing.assert_array_equal(got, each(a) << np.uint32(16) | each(b))
    inside = np.clip(a, -largest, largest).astype("f4")
    finite = run(f"cvt.rn.satfinite.{target}x2.f32", a.view("u4"), b.view("u4"))
    np.testing.assert_array_equal(finite >> 16, each(np.where(np.isnan(a), a, inside)))
    positive = np.where(a > 0, a, np.where(np.isnan(a), a, np.float32(0)))
    relu = run(f"cvt.rn.relu.{target}.f32", a.view("u4"))
    np.testing.assert_array_equal(relu, each(positive))
    truncated = run(f"cvt.rz.{target}x2.f32", a.view("u4"), b.view("u4"))
    single = run(f"cvt.rz.{target}.f32", b.view("u4"))
    np.testing.assert_array_equal(truncated & 0xFFFF, single)


@pytest.mark.parametrize("mode", ["rn", "rz", "rna"])
def test_tf32(mode, run, rounded):
    a = singles(5, 1500)
    got = run(f"cvt.{mode}.tf32.f32", a.view("u4"))
    assert not (got[np.isfinite(a)] & 0x1FFF).any()
    for i, v in enumerate(a.tolist()):
        if math.isfinite(v) and v:
            assert int(got[i]) >> 13 == rounded(Fraction(v), 8, 10, mode), v
        elif math.isnan(v):
            assert got[i] == 0x7FFFFFFF
        else:
            assert got[i] == a[i : i + 1].view("u4")[0]
    top = np.array([np.inf, 3.4028e38], "f4").view("u4")
    largest = np.array([0x7F7FE000, 0x7F7FE000], "u4")
    np.testing.assert_array_equal(run("cvt.rna.satfinite.tf32.f32", top), largest)


@pytest.mark.parametrize("mode", ["rz", "rp"])
def test_scale_factors(mode, run):
    a = singles(6)
    a[:6] = [2.0**-127, 2.0**-128, 1.5 * 2.0**-127, 3.4e38, np.inf, 0]

    def model(v, satfinite):
        if math.isnan(v):
            return 255
        if math.isinf(v):
            return 254 if satfinite else 255
        v = abs(v)
        if v <= 2.0**-127:
            return 0
        power = math.floor(math.log2(v)) if v < 2.0**-126 else math.frexp(v)[1] - 1
        if mode == "rp" and v > 2.0**power:
            power += 1
        return min(power + 127, 254 if satfinite else 255)

    for satfinite in ("", ".satfinite"):
        got = run(f"cvt.{mode}{satfinite}.ue8m0x2.f32", a.view("u4"), a[::-1].copy().view("u4"))
        np.testing.assert_array_equal(got >> 8, [model(v, satfinite) for v in a.tolist()])
        np.testing.assert_array_equal(got & 255, [model(v, satfinite) for v in a[::-1].tolist()])
        upper = a.view("u4") & np.uint32(0xFFFF0000)
        pair = run(f"cvt.{mode}{satfinite}.ue8m0x2.bf16x2", upper)
        want = [model(v, satfinite) for v in upper.view("f4").tolist()]
        np.testing.assert_array_equal(pair >> 8, want)
        assert not (pair & 255).any()


def test_from_scale_factors(run):
    codes = np.arange(256).astype("u2")
    got = run("cvt.rn.bf16x2.ue8m0x2", codes << np.uint16(8))
    values = (got & np.uint32(0xFFFF0000)).view("f4")
    np.testing.assert_array_equal(values[:-1], 2.0 ** np.arange(-127, 128))
    assert np.isnan(values[-1])
    assert set((got & 0xFFFF).tolist()) == {0x0040}


@pytest.mark.parametrize(("target", "bits"), [("f16", 13), ("bf16", 16)])
def test_stochastic_rounding(target, bits, run):
    a = np.array([1.0 + 2.0**-12, 1.0 + 3 * 2.0**-9, -2.0, 3.0], "f4")
    none = run(f"cvt.rs.{target}x2.f32", a.view("u4"), a.view("u4"), np.uint32(0))
    truncated = run(f"cvt.rz.{target}x2.f32", a.view("u4"), a.view("u4"))
    np.testing.assert_array_equal(none, truncated)
    below = a.view("u4") & np.uint32(2**bits - 1)
    # the least random number that carries into the last place
    carry = (2**bits - below).astype("u4") & np.uint32(2**bits - 1)
    lifted = run(f"cvt.rs.{target}x2.f32", a.view("u4"), a.view("u4"), carry)
    np.testing.assert_array_equal((lifted - none) & 0xFFFF, below != 0)
    np.testing.assert_array_equal(lifted >> 16, none >> 16)
    upper = run(f"cvt.rs.{target}x2.f32", a.view("u4"), a.view("u4"), carry << np.uint32(16))
    np.testing.assert_array_equal((upper - none) >> 16, below != 0)


@pytest.mark.parametrize("type_", ["s16", "u16", "s8", "u8", "s4", "u4", "s2", "u2"])
def test_pack(type_, run):
    rng = np.random.default_rng(7)
    spread = rng.integers(-(2**31), 2**31, (2, 500)) >> rng.integers(0, 31, (2, 500))
    a, b = spread.astype("i4")
    c = rng.integers(0, 2**32, 500, dtype="u4", endpoint=False)
    width = int(type_[1:])
    low, high = (0, 2**width) if type_[0] == "u" else (-(2 ** (width - 1)), 2 ** (width - 1))
    x, y = ([min(max(v, low), high - 1) % 2**width for v in n.tolist()] for n in (a, b))
    want = [p << width | q for p, q in zip(x, y, strict=True)]
    if width == 16:
        got = run(f"cvt.pack.sat.{type_}.s32", a.view("u4"), b.view("u4"))
    else:
        got = run(f"cvt.pack.sat.{type_}.s32.b32", a.view("u4"), b.view("u4"), c)
        want = [(z << 2 * width) % 2**32 | w for w, z in zip(want, c.tolist(), strict=True)]
    np.testing.assert_array_equal(got, want)
