"""The vectorised fused multiply-add against rationals, and against the C library where Python
offers it, in all rounding modes and over the whole range of float64."""

from __future__ import annotations

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.sim.tensor.fma import fma

MODES = ("rn", "rz", "rm", "rp")
finite = st.floats(allow_nan=False, allow_infinity=False)


def bits(x: float) -> str:
    return struct.pack(">d", x).hex()


def one(a: float, b: float, c: float, mode: str) -> float:
    return float(fma(np.float64([a]), np.float64([b]), np.float64([c]), mode)[0])


@pytest.mark.parametrize("mode", MODES)
@given(a=finite, b=finite, c=finite)
def test_any_numbers(mode, plain, a, b, c) -> None:
    try:
        want = plain.fma64(a, b, c, mode)
    except OverflowError:
        return
    if math.isfinite(want):
        assert bits(one(a, b, c, mode)) == bits(want)


@pytest.mark.parametrize("mode", MODES)
def test_close_terms(mode, plain) -> None:
    """Products that nearly cancel the addend, or touch it at its last bits."""
    rng = np.random.default_rng(7)
    a = rng.standard_normal(3000)
    b = rng.standard_normal(3000)
    near = -a * b * (1 + rng.integers(-3, 4, 3000) * 2.0**-52)
    far = a * b * np.exp2(rng.integers(-110, 110, 3000))
    coarse = np.round(a * 64) / 64, np.round(b * 64) / 64, rng.standard_normal(3000)
    for x, y, z in ((a, b, near), (a, b, far), (a, b, -far), coarse):
        got = fma(x, y, z, mode)
        want = [plain.fma64(*t, mode) for t in zip(x.tolist(), y.tolist(), z.tolist(), strict=True)]
        assert got.view(np.uint64).tolist() == np.array(want).view(np.uint64).tolist()


@pytest.mark.skipif(not hasattr(math, "fma"), reason="math.fma came with Python 3.13")
@given(a=finite, b=finite, c=finite)
def test_against_the_c_library(a, b, c) -> None:
    try:
        want = math.fma(a, b, c)
    except OverflowError:
        return
    assert bits(one(a, b, c, "rn")) == bits(want)


def test_overflow_by_mode() -> None:
    largest = float(np.finfo(np.float64).max)
    want = {"rn": math.inf, "rz": largest, "rm": largest, "rp": math.inf}
    for mode in MODES:
        assert one(largest, 2.0, 0.0, mode) == want[mode]
        mirrored = {"rm": "rp", "rp": "rm"}.get(mode, mode)
        assert one(-largest, 2.0, 0.0, mirrored) == -want[mode]


def test_special_values() -> None:
    inf, nan = math.inf, math.nan
    for mode in MODES:
        assert one(inf, 2.0, 1.0, mode) == inf
        assert one(1e300, 1e300, -inf, mode) == -inf
        for a, b, c in ((inf, 0.0, 1.0), (inf, 1.0, -inf), (nan, 1.0, 1.0), (1.0, 1.0, nan)):
            assert bits(one(a, b, c, mode)) == "7ff8000000000000"


def test_signs_of_zero() -> None:
    for mode in MODES:
        cancelled = "8000000000000000" if mode == "rm" else "0000000000000000"
        assert bits(one(1.0, 1.0, -1.0, mode)) == cancelled
        assert bits(one(-0.0, 1.0, 0.0, mode)) == cancelled
        assert bits(one(-0.0, 1.0, -0.0, mode)) == "8000000000000000"
        assert bits(one(0.0, 1.0, 0.0, mode)) == "0000000000000000"
