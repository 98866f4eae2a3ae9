"""Numbers as the bits of each type, against tables and rationals computed here from the formats."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tilec.isa import TilecError
from tilec.runtime import from_bits, to_bits

# exponent bits, mantissa bits, bits above the largest number's that are not numbers
FORMATS = {
    "e4m3": (4, 3, 1),
    "e5m2": (5, 2, 4),
    "e3m2": (3, 2, 0),
    "e2m3": (2, 3, 0),
    "e2m1": (2, 1, 0),
    "ue4m3": (4, 3, 1),
    "f16": (5, 10, 1 << 10),
    "bf16": (8, 7, 1 << 7),
    "tf32": (8, 10, 1 << 10),
}
NARROW = [n for n, (e, m, _) in FORMATS.items() if e + m < 8]


def magnitudes(name: str) -> list[Fraction]:
    """Every number from 0 up, in the order of their bits."""
    e, m, specials = FORMATS[name]
    bias = (1 << (e - 1)) - 1
    found = []
    for bits in range((1 << (e + m)) - specials):
        field, low = bits >> m, bits & ((1 << m) - 1)
        significand = Fraction(low, 1 << m) + (field > 0)
        found.append(significand * Fraction(2) ** (max(field, 1) - bias))
    return found


def nearest(name: str, number: float) -> int:
    """Bits of the nearest number, ties to even, the largest beyond the range."""
    size = abs(Fraction(number))
    table = magnitudes(name)
    best = min(range(len(table)), key=lambda i: (abs(table[i] - size), i & 1))
    negative = math.copysign(1, number) < 0
    e, m, _ = FORMATS[name]
    return best | negative << (e + m)


@pytest.mark.parametrize("name", NARROW)
def test_narrow_floats_round_to_nearest(name) -> None:
    table = [float(x) for x in magnitudes(name)]
    middles = [(x + y) / 2 for x, y in pairwise(table)]
    rng = np.random.default_rng(0)
    near = [m * (1 + d) for m in middles for d in (-(2.0**-50), 2.0**-50)]
    numbers = table + middles + near + list(rng.standard_normal(50)) + [1e9]
    if name != "ue4m3":
        numbers += [-x for x in numbers] + [-0.0]
    else:
        numbers = [abs(x) for x in numbers]
    assert to_bits(numbers, name).tolist() == [nearest(name, float(x)) for x in numbers]


@pytest.mark.parametrize("name", ["f16", "bf16", "tf32"])
@given(number=st.floats(allow_nan=False, allow_infinity=False), exponent=st.integers(-30, 30))
def test_wide_floats_round_once(name, number, exponent) -> None:
    """From float64 in one rounding; tf32 away from zero in ties."""
    number = math.frexp(number)[0] * 2.0**exponent
    e, m, _ = FORMATS[name]
    bias, size = (1 << (e - 1)) - 1, abs(Fraction(number))
    power = max(math.frexp(number)[1] - 1, 1 - bias)
    scaled = size / Fraction(2) ** (power - m)
    units, rest = divmod(scaled, 1)
    up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (name == "tf32" or units % 2))
    value = (units + up) * Fraction(2) ** (power - m)
    got = float(from_bits(to_bits([number], name), name)[0])
    if value >= Fraction(2) ** (bias + 1):
        assert got == math.copysign(math.inf, number)
    else:
        assert Fraction(got) == (-value if number < 0 else value)


@pytest.mark.parametrize("name", [*NARROW, "f16", "bf16"])
def test_every_pattern_comes_back(name) -> None:
    e, m, _ = FORMATS[name]
    bits = np.arange(1 << (e + m + (name != "ue4m3")), dtype=np.uint16)
    numbers = from_bits(bits, name)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        finite = np.isfinite(numbers.astype(np.float64))
    table = [float(x) for x in magnitudes(name)]
    assert numbers[: len(table)].astype(np.float64).tolist() == table
    assert (to_bits(numbers[finite], name) == bits[finite]).all()


def test_ue8m0_holds_powers_of_two() -> None:
    exponents = np.arange(-127, 128)
    bits = to_bits(np.exp2(exponents.astype(np.float64)), "ue8m0")
    assert (bits == exponents + 127).all()
    assert (from_bits(bits, "ue8m0").astype(np.float64) == np.exp2(exponents.astype(float))).all()
    assert to_bits([np.nan], "ue8m0") == 255
    for wrong in (3.0, 0.0, 2.0**128):
        with pytest.raises(TilecError, match=r"element 0: .* does not fit ue8m0"):
            to_bits([wrong], "ue8m0")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [("s4", -8, 7), ("u4", 0, 15), ("s8", -128, 127), ("u8", 0, 255), ("b1", 0, 1),
     ("s32", -(2**31), 2**31 - 1)],
)  # fmt: skip
def test_integers(name, low, high) -> None:
    numbers = np.linspace(low, high, num=min(300, high - low + 1)).astype(np.int64)
    bits = to_bits(numbers, name)
    assert (bits == numbers % (high - low + 1)).all()
    assert (from_bits(bits, name).astype(np.int64) == numbers).all()
    for wrong in (low - 1, high + 1):
        with pytest.raises(TilecError, match=rf"row 1, column 2: {wrong} does not fit {name}"):
            to_bits([[0, 0, 0], [0, 0, wrong]], name)


def test_refusals_name_the_place() -> None:
    with pytest.raises(TilecError, match=r"row 1, column 0: 0.5 does not fit s8"):
        to_bits([[1.0], [0.5]], "s8")
    with pytest.raises(
        TilecError, match="row 0, column 1: nan does not fit e2m1, which has no NaN"
    ):
        to_bits([[1.0, np.nan]], "e2m1")
    with pytest.raises(TilecError, match=r"row 0, column 0: -1.0 is negative"):
        to_bits([[-1.0]], "ue4m3")
    with pytest.raises(TilecError, match="row 2, column 0 of matrix 1: 9 does not fit s4"):
        to_bits([[[0], [0], [0]], [[0], [0], [9]]], "s4")


def test_special_values() -> None:
    assert to_bits([np.inf, -np.inf], "e4m3").tolist() == [0x7E, 0xFE]
    assert to_bits([np.inf], "e5m2").tolist() == [0x7B]
    assert to_bits([np.inf, -np.inf], "bf16").tolist() == [0x7F80, 0xFF80]
    assert to_bits([np.nan], "tf32").tolist() == [0x7FFFFFFF]
    assert np.isnan(from_bits(to_bits([np.nan], "e4m3"), "e4m3").astype(np.float32))[0]
