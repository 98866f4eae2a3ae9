"""f32 and f64 arithmetic rounds once, in each direction: compared bit for bit with rationals.

Special values follow IEEE 754, subnormals are kept or flushed as asked, NaN is canonical.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

COUNT = 700
MODES = ("rn", "rz", "rm", "rp")
FORMATS = {32: (8, 23), 64: (11, 52)}


def _fraction_root(value: Fraction) -> Fraction:
    """The square root to far more bits than any format has, its last bit sticky."""
    shift = 400
    scaled = (value.numerator << (2 * shift + 2 * value.denominator.bit_length())) // (
        value.denominator
    )
    root = math.isqrt(scaled)
    sticky = root * root != scaled or scaled * value.denominator != value.numerator << (
        2 * shift + 2 * value.denominator.bit_length()
    )
    return Fraction(2 * root + sticky, 2 << (shift + value.denominator.bit_length()))


def _operands(nearby, width, arity, seed):
    """Operands of which a part nearly cancels, or meets midway between two results."""
    a, b, c = (nearby(width, COUNT, 10 * seed + i) for i in range(3))
    number = np.dtype(f"f{width // 8}")
    rng = np.random.default_rng(seed)
    part = rng.integers(0, 4, COUNT)
    with np.errstate(all="ignore"):
        product = (-(a.view(number) * b.view(number))).view(a.dtype)
    wobble = rng.integers(0, 3, COUNT).astype(a.dtype)
    c = np.where(part == 0, product + wobble, c)
    # odd factors whose product has one bit too many, plus something tiny
    half = (width // 2 + 1) if width == 32 else 27
    low = 2 ** (half - 5)
    x = (rng.integers(low, 2 * low, COUNT) | 1).astype(number)
    y = (rng.integers(low, 2 * low, COUNT) | 1).astype(number)
    tiny = (rng.choice([-1.0, 1.0], COUNT) * 2.0 ** rng.integers(-120, 0, COUNT)).astype(number)
    a = np.where(part == 1, x.view(a.dtype), a)
    b = np.where(part == 1, y.view(a.dtype), b)
    c = np.where(part == 1, tiny.view(a.dtype), c)
    if arity == 2:
        b = np.where(part == 0, a ^ a.dtype.type(1 << (width - 1)), b)
    return (a, b, c)[:arity]


EXACT = {
    "add": (2, lambda a, b: a + b),
    "sub": (2, lambda a, b: a - b),
    "mul": (2, lambda a, b: a * b),
    "div": (2, lambda a, b: a / b),
    "fma": (3, lambda a, b, c: a * b + c),
    "sqrt": (1, _fraction_root),
    "rcp": (1, lambda a: 1 / a),
}


def _defined(name, values):
    """Whether the operation is on finite numbers, with an ordinary, nonzero result."""
    if not all(math.isfinite(v) for v in values):
        return False
    if name == "div":
        return values[0] != 0 and values[1] != 0
    if name == "rcp":
        return values[0] != 0
    if name == "sqrt":
        return values[0] > 0
    return True


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("name", EXACT)
def test_finite_results_are_the_rational_ones_rounded(name, width, run, nearby, rounded):
    arity, exact = EXACT[name]
    for seed, mode in enumerate(MODES):
        operands = _operands(nearby, width, arity, 31 * seed + width)
        result = run(f"{name}.{mode}.f{width}", *operands)
        numbers = [x.view(f"f{width // 8}") for x in operands]
        checked = 0
        for i, values in enumerate(zip(*(x.tolist() for x in numbers), strict=True)):
            if not _defined(name, values):
                continue
            value = exact(*map(Fraction, values))
            if value == 0:
                continue
            checked += 1
            expected = rounded(value, *FORMATS[width], mode)
            assert int(result[i]) == expected, (mode, values)
        assert checked > COUNT // 4


@pytest.mark.parametrize("width", [32, 64])
@pytest.mark.parametrize("mode", MODES)
def test_any_finite_fma(mode, width, run, rounded):
    number = st.floats(width=width, allow_nan=False, allow_infinity=False)

    @settings(max_examples=150, derandomize=True)
    @given(number, number, number)
    def check(a, b, c):
        exact = Fraction(a) * Fraction(b) + Fraction(c)
        if exact:
            bits = [np.array([x], f"f{width // 8}").view(f"u{width // 8}") for x in (a, b, c)]
            expected = rounded(exact, *FORMATS[width], mode)
            assert int(run(f"fma.{mode}.f{width}", *bits)[0]) == expected

    check()


@pytest.mark.parametrize("width", [32, 64])
def test_the_sign_of_an_exact_zero(width, run):
    one, zero = (np.array([v], f"f{width // 8}").view(f"u{width // 8}") for v in (1.0, 0.0))
    sign = one.dtype.type(1 << (width - 1))
    for mode in MODES:
        cancelled = sign if mode == "rm" else 0
        assert run(f"add.{mode}.f{width}", one, one | sign)[0] == cancelled
        assert run(f"sub.{mode}.f{width}", one, one)[0] == cancelled
        assert run(f"fma.{mode}.f{width}", one, one, one | sign)[0] == cancelled
        assert run(f"fma.{mode}.f{width}", zero, one, zero | sign)[0] == cancelled
        assert run(f"fma.{mode}.f{width}", zero | sign, one, zero | sign)[0] == sign
        assert run(f"add.{mode}.f{width}", zero | sign, zero | sign)[0] == sign
        assert run(f"mul.{mode}.f{width}", zero | sign, one)[0] == sign
        assert run(f"div.{mode}.f{width}", zero, one | sign)[0] == sign


@pytest.mark.parametrize("mode", MODES)
def test_sums_at_the_ends_of_the_f64_range(mode, run):
    a, b, c = (np.array([v]) for v in (2.0**1000, 2.0**100, -(2.0**1023)))
    wide = [x.view("u8") for x in (a, b, c)]
    largest = {"rn": np.inf, "rp": np.inf}.get(mode, np.finfo("f8").max)
    assert run(f"fma.{mode}.f64", *wide).view("f8")[0] == largest
    for infinity in (np.inf, -np.inf):
        bits = np.array([infinity]).view("u8")
        assert run(f"fma.{mode}.f64", wide[0], wide[1], bits)[0] == bits[0]
    cancelled = run(f"fma.{mode}.f64", wide[0], wide[1] - np.uint64(77 << 52), wide[2])
    assert cancelled[0] == (1 << 63 if mode == "rm" else 0)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("width", [32, 64])
def test_infinities_and_invalid_operations(mode, width, run):
    values = [0.0, -0.0, 1.0, -2.5, math.inf, -math.inf, math.nan]
    grid = np.array([(a, b, c) for a in values for b in values for c in values], f"f{width // 8}")
    a, b, c = (np.ascontiguousarray(grid[:, i]) for i in range(3))
    with np.errstate(all="ignore"):
        expected = {
            f"add.{mode}.f{width}": (a + b, (a, b)),
            f"mul.{mode}.f{width}": (a * b, (a, b)),
            f"div.{mode}.f{width}": (a / b, (a, b)),
            f"sqrt.{mode}.f{width}": (np.sqrt(a), (a,)),
            f"fma.{mode}.f{width}": (a * b + c, (a, b, c)),
        }
    for text, (want, operands) in expected.items():
        got = run(text, *(x.view(f"u{width // 8}") for x in operands))
        got = got.view(f"f{width // 8}")
        np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=text)
        special = np.isinf(want)
        np.testing.assert_array_equal(got[special], want[special], err_msg=text)
        if width == 32:
            assert set(got[np.isnan(got)].view("u4").tolist()) <= {0x7FFFFFFF}


def test_f64_keeps_the_payload_of_its_first_nan(run):
    nan, signalling, one = (
        np.array([v], "u8") for v in (0x7FF8_0000_0000_1234, 0xFFF0_0000_0000_0042, 0x3FF << 52)
    )
    assert run("add.f64", nan, signalling)[0] == nan[0]
    assert run("mul.rz.f64", one, signalling)[0] == 0xFFF8_0000_0000_0042
    assert run("fma.rn.f64", one, one, nan)[0] == nan[0]
    infinity = np.array([0x7FF << 52], "u8")
    assert run("sub.f64", infinity, infinity)[0] == 0xFFF8 << 48


def test_flushing_and_saturation(run):
    tiny, one, two = (np.array([v], "f4") for v in (2.0**-130, 1.0, 2.0))
    bits = lambda x: x.view("u4")  # noqa: E731
    assert run("add.ftz.f32", bits(tiny), bits(-tiny))[0] == 0
    assert run("mul.ftz.f32", bits(-tiny), bits(two))[0] == 1 << 31
    assert run("mul.f32", bits(tiny), bits(two))[0] == 2.0**-129 / 2.0**-149
    half = np.array([2.0**-126], "f4")
    assert run("mul.ftz.f32", bits(half), bits(np.array([0.5], "f4")))[0] == 0
    assert run("fma.rn.ftz.f32", bits(one), bits(tiny), bits(-tiny * 0))[0] == 0
    assert run("add.sat.f32", bits(two), bits(one))[0] == 0x3F800000
    assert run("mul.sat.f32", bits(-two), bits(one))[0] == 0
    assert run("mul.sat.f32", bits(one * 0), bits(-one))[0] == 0
    nan = np.array([0x7FC00001], "u4")
    assert run("add.sat.f32", nan, bits(one))[0] == 0
    assert run("fma.rn.ftz.sat.f32", bits(one), bits(one), nan)[0] == 0


def test_pairs_are_two_independent_operations(run, nearby):
    low, high = nearby(32, 400, 1), nearby(32, 400, 2)
    other = nearby(32, 400, 3)

    def pair(a, b):
        return a.astype("u8") | (b.astype("u8") << np.uint64(32))

    for text in ("fma.rn", "fma.rz.ftz"):
        both = run(f"{text}.f32x2", pair(low, high), pair(high, low), pair(other, other))
        np.testing.assert_array_equal(
            both,
            pair(run(f"{text}.f32", low, high, other), run(f"{text}.f32", high, low, other)),
        )


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_mixed_precision_adds_to_f32(kind, run, nearby):
    import ml_dtypes

    dtype = np.float16 if kind == "f16" else ml_dtypes.bfloat16
    a, b, c = nearby(16, 500, 1), nearby(16, 500, 2), nearby(32, 500, 3)
    with np.errstate(all="ignore"):
        x, y = (v.view(dtype).astype("f4").view("u4") for v in (a, b))
    np.testing.assert_array_equal(run(f"add.rz.f32.{kind}", a, c), run("add.rz.f32", x, c))
    np.testing.assert_array_equal(run(f"sub.sat.f32.{kind}", a, c), run("sub.sat.f32", x, c))
    np.testing.assert_array_equal(run(f"fma.rn.f32.{kind}", a, b, c), run("fma.rn.f32", x, y, c))
