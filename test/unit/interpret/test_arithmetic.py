"""The arithmetics against numpy, ml_dtypes and the laws of a ring."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.interpret import arithmetic_of, integers
from tilec.interpret.arithmetic.base import Matrices, ProductOf
from tilec.interpret.numbers import Number, unsigned, wrap
from tilec.isa import UnknownNameError, form

F16, BF16, F32, F64 = (
    Number(n, b, is_float=True) for n, b in (("f16", 16), ("bf16", 16), ("f32", 32), ("f64", 64))
)
E4M3 = Number("f8E4M3FN", 8, is_float=True)
ALGEBRAIC = arithmetic_of("algebraic")


def number_arrays(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.integers(0, 2**32 - 1).map(
        lambda seed: ALGEBRAIC.draw(np.random.default_rng(seed), (size,), F32)
    )


@given(number_arrays(12), number_arrays(12), number_arrays(12))
def test_algebra_is_a_ring(a, b, c) -> None:
    def add(x, y):
        return ALGEBRAIC.apply("arith.addf", (x, y), F32)

    def multiply(x, y):
        return ALGEBRAIC.apply("arith.mulf", (x, y), F32)

    np.testing.assert_array_equal(add(add(a, b), c), add(c, add(b, a)))
    np.testing.assert_array_equal(multiply(a, multiply(b, c)), multiply(multiply(c, a), b))
    np.testing.assert_array_equal(multiply(a, add(b, c)), add(multiply(a, b), multiply(a, c)))
    one = ALGEBRAIC.constant(np.ones(1), F32)
    np.testing.assert_array_equal(multiply(a, one), a)
    # Narrowing goes with sums and products, so that any precision of a sum agrees in what it keeps.
    narrow = [ALGEBRAIC.convert(x, F32, F16) for x in (a, b)]
    wide = ALGEBRAIC.convert(add(a, b), F32, F16)
    np.testing.assert_array_equal(ALGEBRAIC.apply("arith.addf", narrow, F16), wide)


@given(st.floats(allow_nan=False, allow_infinity=False, width=16))
def test_constants_agree_in_all_widths(value: float) -> None:
    half = ALGEBRAIC.constant(np.array([value]), F16)
    single = ALGEBRAIC.constant(np.array([value]), F32)
    np.testing.assert_array_equal(ALGEBRAIC.convert(single, F32, F16), half)
    opposite = ALGEBRAIC.constant(np.array([-value]), F32)
    np.testing.assert_array_equal(opposite, wrap(-single, 32))


def test_functions_tell_arguments_apart() -> None:
    values = ALGEBRAIC.draw(np.random.default_rng(1), (4096,), F32)
    for fn in ("math.exp2", "math.tanh", "math.sqrt"):
        found = ALGEBRAIC.apply(fn, (values,), F32)
        assert len(np.unique(found)) > 0.99 * len(np.unique(values))
    assert (ALGEBRAIC.apply("math.exp", (values,), F32) != found).mean() > 0.99


@pytest.mark.parametrize(
    ("number", "dtype"), [(F16, np.float16), (BF16, ml_dtypes.bfloat16), (F32, np.float32)]
)
def test_hardware_rounds_as_numpy(number: Number, dtype: type) -> None:
    random, hardware = np.random.default_rng(2), arithmetic_of("hardware")
    a, b = (random.standard_normal(500).astype(dtype) for _ in range(2))
    for fn, function in (("addf", np.add), ("mulf", np.multiply), ("divf", np.divide)):
        got = hardware.apply(f"arith.{fn}", (a, b), number)
        np.testing.assert_array_equal(got, function(a, b))
    assert hardware.constant(np.array([1 / 3]), number)[0] == dtype(1 / 3)


@given(st.integers(0, 2**32 - 1), st.sampled_from([F32, F64]))
def test_fused_products_are_rounded_once(seed: int, number: Number) -> None:
    random, dtype = np.random.default_rng(seed), np.float32 if number is F32 else np.float64
    a, b = ((1 + random.integers(0, 64, 8) * np.finfo(dtype).eps).astype(dtype) for _ in range(2))
    c = (-(1.0 ** random.integers(0, 2, 8)) * 2.0 ** random.integers(-80, 2, 8)).astype(dtype)
    got = arithmetic_of("hardware").apply("math.fma", (a, b, c), number)
    for x, y, z, found in zip(a.tolist(), b.tolist(), c.tolist(), got, strict=True):
        exact = Fraction(x) * Fraction(y) + Fraction(z)
        away = abs(Fraction(float(found)) - exact)
        around = (np.nextafter(found, dtype(side)) for side in (-np.inf, np.inf))
        assert all(away <= abs(Fraction(float(one)) - exact) for one in around)


def test_constants_have_infinities() -> None:
    given = np.array([np.inf, -np.inf, 1.5])
    for name in ("f8E5M2", "f16", "f32", "tf32"):
        number = Number(name, 0, is_float=True)
        got = arithmetic_of("hardware").constant(given, number)
        np.testing.assert_array_equal(got.astype(np.float64), given)


@pytest.mark.parametrize("fn", ["maxsi", "minsi", "maxui", "minui"])
def test_one_bit_has_a_sign(fn: str) -> None:
    """Of i1 true is -1 with a sign, and 1 without; LLVM's `smax` on i1 is its `and`."""
    one, other = np.array([True, True, False, False]), np.array([True, False, True, False])
    expected = one & other if fn in ("maxsi", "minui") else one | other
    np.testing.assert_array_equal(integers.apply(f"arith.{fn}", 1, one, other), expected)


def test_narrow_floats_saturate() -> None:
    got = arithmetic_of("hardware").convert(np.array([1e6, -1e6, 0.3], np.float32), F32, E4M3)
    assert got.astype(float).tolist()[:2] == [448, -448]
    assert got[2] == ml_dtypes.float8_e4m3fn(0.3)


def test_bits_come_back() -> None:
    codes = np.arange(256)
    for name in ("hardware", "algebraic"):
        one = arithmetic_of(name)
        np.testing.assert_array_equal(one.encode(one.decode(codes, E4M3), E4M3), codes)


def test_products_are_the_tensor_cores() -> None:
    """Small integers are exact; of others each generation keeps as many bits as it has."""
    hardware, random = arithmetic_of("hardware"), np.random.default_rng(3)
    found = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
    shapes = (2, 16, 32), (2, 32, 8), (2, 16, 8)
    small = [random.integers(-8, 9, shape) for shape in shapes]
    real = [random.standard_normal(shape).astype(np.float16) for shape in shapes]
    given: dict[str, np.ndarray] = {}
    for chip in ("", "sm_80", "sm_90"):
        of = ProductOf(F16, F16, F32, F32, found, chip)
        a, b, c = small
        halves = a.astype(np.float16), b.astype(np.float16)
        got = hardware.multiply(Matrices(*halves, c.astype(np.float32)), of)
        np.testing.assert_array_equal(got, a @ b + c)
        a, b, c = real
        given[chip] = hardware.multiply(Matrices(a, b, c.astype(np.float32)), of)
        exact = a.astype(np.float64) @ b.astype(np.float64) + c
        np.testing.assert_allclose(given[chip], exact, rtol=1e-5, atol=1e-5)
    assert (given["sm_80"] != given["sm_90"]).any()


@given(st.integers(-(2**63), 2**63 - 1), st.sampled_from([1, 2, 4, 8, 16, 32, 64]))
def test_integers_wrap(value: int, bits: int) -> None:
    got = int(wrap(np.array([value]), bits)[0])
    rest = value % 2**bits
    assert got == (rest if bits == 1 or rest < 2 ** (bits - 1) else rest - 2**bits)
    assert int(unsigned(np.array([value]), bits)[0]) == rest


def test_conversion_to_integers_saturates() -> None:
    values = np.array([1e30, -1e30, np.nan, 1.9, -1.9, 200.0], np.float32)
    got = arithmetic_of("hardware").to_integer(values, Number("i8", 8, is_float=False), signed=True)
    assert got.tolist() == [127, -128, 0, 1, -1, 127]


def test_unknown_arithmetic() -> None:
    with pytest.raises(UnknownNameError, match="algebraic"):
        arithmetic_of("algebra")
