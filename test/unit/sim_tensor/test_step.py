"""Single dot products worked out by hand from the written rule, one property each.

With a term of 2^0 on top, hardware keeps F fraction bits below it: 23 on Volta, 24 up to Ada, 25
from Hopper on, 13 for Ada's fp8. What is below is cut off, not rounded.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import Mma, element_type, form
from tilec.sim.tensor.arithmetic import Rounding, Step, arithmetic
from tilec.sim.tensor.dot import Factors, dot, factors

MMA = "mma.sync.aligned.m"
VOLTA = Step(4, 23, Rounding.RZ32, -131)
AMPERE = Step(8, 24, Rounding.RZ32, -132)
HOPPER = Step(16, 25, Rounding.RZ32, -133)
ADA_FLOAT8 = Step(16, 13, Rounding.E8M13, -132)
HOPPER_HALF = Step(16, 25, Rounding.RNE16, -21)
INF, NAN = np.inf, np.nan


def run(step: Step, a: list[float], b: list[float], c: float, type_: str = "f16") -> float:
    sides = (factors(np.array([x], np.float32).T, element_type(type_)) for x in (a, b))
    acc = np.float16 if step.rounding is Rounding.RNE16 else np.float32
    return float(dot(step, *sides, np.array([c], acc))[0])


def test_bits_below_the_kept_fraction_are_cut() -> None:
    # 2^-10 · 2^-14 = 2^-24 beside 1: kept from 24 bits on; twice it is 2^-23, which f32 shows.
    tiny = [1.0, 2.0**-10, 2.0**-10], [1.0, 2.0**-14, 2.0**-14]
    assert run(VOLTA, *tiny, 0) == 1
    assert run(AMPERE, *tiny, 0) == 1 + 2.0**-23
    # four of 2^-25
    tiny = [1.0] + 4 * [2.0**-11], [1.0] + 4 * [2.0**-14]
    assert run(AMPERE, *tiny, 0) == 1
    assert run(HOPPER, *tiny, 0) == 1 + 2.0**-23


@pytest.mark.parametrize(
    ("ptx", "arch", "lowest"),
    [
        # The lowest bit kept where a zero is among the terms: 2^(zero exponent - F).
        (f"{MMA}8n8k4.row.col.f16.f16.f16.f16", "sm_70", -42),
        (f"{MMA}16n8k8.row.col.f16.f16.f16.f16", "sm_75", -44),
        (f"{MMA}16n8k8.row.col.f16.f16.f16.f16", "sm_80", -44),
        (f"{MMA}16n8k8.row.col.f16.f16.f16.f16", "sm_90", -46),
        (f"{MMA}16n8k8.row.col.f16.f16.f16.f16", "sm_120", -46),
        (f"{MMA}16n8k32.row.col.f16.e5m2.e5m2.f16", "sm_89", -33),
        (f"{MMA}16n8k8.row.col.f32.bf16.bf16.f32", "sm_89", -156),
        (f"{MMA}16n8k8.row.col.f32.tf32.tf32.f32", "sm_80", -156),
        (f"{MMA}16n8k8.row.col.f32.bf16.bf16.f32", "sm_90", -158),
        (f"{MMA}16n8k8.row.col.f32.tf32.tf32.f32", "sm_120", -158),
        (f"{MMA}16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue8m0",
         "sm_120a", -174),
    ],
)  # fmt: skip
def test_a_zero_term_bounds_the_fraction(ptx, arch, lowest) -> None:
    f = form(ptx)
    assert isinstance(f, Mma)
    step = arithmetic(f, arch).step
    half = step.rounding is Rounding.RNE16
    # The least result that shows is 2^-149, or 2^-24 of f16 which half of it just does not round
    # up to. A term beside it changes the result if it is kept, and is lost below.
    first = -25 if half else -149
    for exponent, kept in ((lowest, True), (lowest - 1, False)):
        other = 2.0**exponent if half else -(2.0**exponent)
        values = np.array([[2.0**first], [other]])
        terms = Factors(values, np.array([[first], [exponent]], np.int16))
        one = Factors(np.ones((2, 1)), np.zeros((2, 1), np.int16))
        c = np.zeros(1, np.float16 if half else np.float32)
        want = (2.0**-24 if kept else 0) if half else (0 if kept else 2.0**-149)
        assert float(dot(step, terms, one, c)[0]) == want


def test_cutting_is_toward_zero_term_by_term() -> None:
    # 1 - 2^-25: Ampere drops the small term, Hopper keeps it and cuts the sum to 1 - 2^-24.
    a, b = [1.0, -(2.0**-11)], [1.0, 2.0**-14]
    assert run(AMPERE, a, b, 0) == 1
    assert run(HOPPER, a, b, 0) == 1 - 2.0**-24


def test_the_sum_is_cut_to_24_bits() -> None:
    # 1 + 2^-24 + 2^-25 is nearer to 1 + 2^-23, but is cut to 1.
    a, b = [1.0, 2.0**-10, 2.0**-11], [1.0, 2.0**-14, 2.0**-14]
    assert run(HOPPER, a, b, 0) == 1


def test_products_are_not_renormalised() -> None:
    # 1.5 · 1.5 = 2.25 has exponent 0, so bits down to 2^-25 are kept on Hopper, 2^-24 on Ampere:
    # 2.25 - 2.25 + 2^-25.
    a, b = [1.5, -1.5, 2.0**-11], [1.5, 1.5, 2.0**-14]
    assert run(HOPPER, a, b, 0) == 2.0**-25
    assert run(AMPERE, a, b, 0) == 0


def test_the_length_of_a_step() -> None:
    # 2^-24 in each of eight terms after a 1: Ampere's first step has seven of them, 7 · 2^-24 =
    # 3.5 · 2^-23, cut to 3; then 1 + 3 · 2^-23 and one more 2^-24, cut again.
    a, b = [1.0] + 8 * [2.0**-10], [1.0] + 8 * [2.0**-14]
    assert run(AMPERE, a, b, 0) == 1 + 3 * 2.0**-23
    assert run(HOPPER, a, b, 0) == 1 + 4 * 2.0**-23


def test_the_addend_takes_part_in_the_alignment() -> None:
    # c = 2^24 puts the lowest bit at 2^-1 on Hopper: 0.25 is lost, twice 0.75 counts as 0.5 each.
    assert run(HOPPER, [0.75, 0.75], [1.0, 1.0], 2.0**24) == 2.0**24
    assert run(HOPPER, [0.75, 0.75], [1.0, 1.0], -(2.0**24)) == -(2.0**24) + 1


def test_float8_on_ada_has_fourteen_bits() -> None:
    # 1 + 2^-14 is cut to 1, and 2^-13 is the last bit that shows.
    assert run(ADA_FLOAT8, [1.0, 2.0**-7], [1.0, 2.0**-7], 0, "e5m2") == 1
    assert run(ADA_FLOAT8, [1.0, 2.0**-7], [1.0, 2.0**-6], 0, "e5m2") == 1 + 2.0**-13
    # c is cut as well
    assert run(ADA_FLOAT8, [1.0], [1.0], 1 + 2.0**-14, "e5m2") == 2


def test_f16_accumulators_round_to_nearest_even_from_the_sum() -> None:
    # 1 + 2^-11 is a tie, to even 1; with 2^-25 more it is not.
    assert run(HOPPER_HALF, [1.0, 2.0**-11], [1.0, 1.0], 0) == 1
    a, b = [1.0, 2.0**-11, 2.0**-11], [1.0, 1.0, 2.0**-14]
    assert run(HOPPER_HALF, a, b, 0) == 1 + 2.0**-10
    assert run(HOPPER_HALF, [256.0], [256.0], 0) == INF


def test_subnormals_are_not_flushed() -> None:
    assert run(HOPPER, [2.0**-24], [2.0**-24], 0) == 2.0**-48
    assert run(HOPPER, [1.0], [2.0**-133], 0, "bf16") == 2.0**-133
    # below f32's least subnormal nothing is left
    assert run(HOPPER, [2.0**-75], [2.0**-75], 0, "bf16") == 0


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_an_exact_zero_is_positive(zero) -> None:
    assert np.copysign(1, run(HOPPER, [-0.0], [1.0], zero)) == 1
    assert np.copysign(1, run(HOPPER, [-1.0, 1.0], [1.0, 1.0], zero)) == 1
    assert np.copysign(1, run(HOPPER_HALF, [-0.0], [1.0], zero)) == 1


@pytest.mark.parametrize("step", [HOPPER, HOPPER_HALF, ADA_FLOAT8])
def test_special_values(step) -> None:
    assert run(step, [INF, 1.0], [2.0, 1.0], 0) == INF
    assert run(step, [1.0], [1.0], -INF) == -INF
    assert np.isnan(run(step, [INF, -INF], [1.0, 1.0], 0))
    assert np.isnan(run(step, [INF], [0.0], 0))
    assert np.isnan(run(step, [INF], [1.0], -INF))
    assert np.isnan(run(step, [1.0], [1.0], NAN))


def test_there_is_one_nan_of_each_width() -> None:
    for step, acc, bits in ((HOPPER, np.float32, 0x7FFFFFFF), (HOPPER_HALF, np.float16, 0x7FFF)):
        side = factors(np.array([[np.nan]], np.float32), element_type("f16"))
        assert dot(step, side, side, np.zeros(1, acc)).view(f"u{np.dtype(acc).itemsize}")[0] == bits


def test_results_overflow_only_at_two_to_the_128() -> None:
    big = 2.0**127
    assert run(HOPPER, [big], [1.0], big, "bf16") == INF
    largest = float(np.finfo(np.float32).max)
    assert run(HOPPER, [1.0], [2.0**103], largest, "bf16") == largest
