"""The model: what it says follows from counts and rates by formulas coded apart."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import pytest
from tilec.isa import target
from tilec.isa.gpus import gpu_of
from tilec.launch.occupancy import occupancy
from tilec.tuning.counting import Counts
from tilec.tuning.model import estimate

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def gemm(m: int, n: int, k: int, tile: int) -> Counts:
    """Counts of C = A·B by tiles, each of which reads its rows and columns from L2."""
    tiles = ceil(m / tile) * ceil(n / tile)
    return Counts(
        instructions={"mma": m * n * k / 2048, "ldmatrix": m * n * k / 8192},
        matrix={MMA: m * n * k / 2048},
        sectors=tiles * 2 * tile * k * 2 / 32,
        in_flight=64 * 1024,
    )


def test_a_product_is_bound_by_the_tensor_cores() -> None:
    found = estimate(
        gemm(4096, 4096, 8192, 128), target("sm_80"), occupancy(256, 120, 65536, target("sm_80")),
        32 * 32, 256, 4096 * (8192 * 4 + 4096 * 4),
    )  # fmt: skip
    assert found.limit == "tensor"
    peak = 2 * 4096**2 * 8192 / 312e12  # NVIDIA's data sheet of the A100
    assert peak <= found.seconds <= 1.3 * peak
    assert found.waves == ceil(1024 / (108 * found.resident))


def test_a_copy_is_bound_by_dram() -> None:
    size = 1 << 30
    copy = Counts(instructions={"ld": size / 512, "st": size / 512}, sectors=2 * size / 32)
    held = occupancy(256, 16, 0, target("sm_90"))
    found = estimate(copy, target("sm_90"), held, size // 4096, 256, 2 * size)
    assert found.limit == "dram"
    assert found.seconds == pytest.approx(2 * size / gpu_of(target("sm_90")).dram_bytes, rel=0.3)


def test_a_wave_that_is_not_full_and_few_bytes_in_flight_cost() -> None:
    known, held = target("sm_80"), occupancy(256, 120, 65536, target("sm_80"))
    one, more = (
        estimate(gemm(4096, 4096, 4096, 128), known, held, ctas, 256, 1 << 20)
        for ctas in (108 * held.ctas, 108 * held.ctas + 1)
    )
    assert more.waves == one.waves + 1
    assert more.seconds > 1.3 * one.seconds
    slow = gemm(4096, 4096, 4096, 32)
    starved = replace(slow, in_flight=1024)
    quick, late = (estimate(c, known, held, 4096, 128, 1 << 20) for c in (slow, starved))
    assert late.limit == "l2"
    assert late.seconds > quick.seconds


def test_an_order_by_which_more_is_read_together_asks_less_of_dram() -> None:
    """Arrays of 1.5 GB, which no L2 holds: all of it once, or more where the order has it."""
    known, held = target("sm_90"), occupancy(256, 120, 65536, target("sm_90"))
    tiles, footprint = 128 * 128, 3 * 16384**2 * 2
    loaded = tiles * 2 * 128 * 16384 * 2
    best, good, none = (
        estimate(
            Counts(sectors=loaded / 32, distinct=distinct, in_flight=1 << 17), known, held, tiles,
            256, footprint,
        ).cycles["dram"]
        for distinct in (footprint / 2, 2 * footprint, loaded)
    )  # fmt: skip
    assert good == pytest.approx(2 * best)
    gpu = gpu_of(known)
    assert none == pytest.approx(loaded / gpu.dram_bytes * gpu.hertz)


def test_few_ctas_leave_sms_idle_though_dram_takes_long() -> None:
    """16 CTAs of 128 x 128 and 64 of 64 x 64: an SM computes one of them, and the small is less."""
    known = target("sm_80")
    large, small = (
        estimate(
            gemm(512, 512, 2048, tile), known, occupancy(128, 120, 65536, known),
            (512 // tile) ** 2, 128, 4 * 512 * 2048 + 4 * 512**2,
        )
        for tile in (128, 64)
    )  # fmt: skip
    assert large.cycles["tensor"] == small.cycles["tensor"]
    of_a_cta = 128 * 128 * 2048 / 1024
    assert large.seconds >= of_a_cta / gpu_of(known).hertz
    assert small.seconds < large.seconds


def test_products_in_tensor_memory_are_four_times_as_fast() -> None:
    """As fast as NVIDIA says of a B200, whose dense f16 is 2.25 PFLOPS."""
    known, flops = target("sm_100a"), 2 * 8192**3
    form = "tcgen05.mma.cta_group::1.kind::f16.m128n256k16.f32.f16.f16.a::descriptor"
    counts = Counts(matrix={form: flops / (2 * 128 * 256 * 16)}, in_flight=1 << 17)
    found = estimate(counts, known, occupancy(192, 64, 1 << 16, known), 2048, 192, 1 << 20)
    gpu = gpu_of(known)
    assert found.cycles["tensor"] / gpu.hertz == pytest.approx(flops / 2.25e15, rel=0.01)
    bytes_of_one = form.replace("f16.m128n256k16.f32.f16.f16", "f8f6f4.m128n256k32.f32.e4m3.e5m2")
    half = Counts(matrix={bytes_of_one: flops / (2 * 128 * 256 * 32)}, in_flight=1 << 17)
    twice = estimate(half, known, occupancy(192, 64, 1 << 16, known), 2048, 192, 1 << 20)
    assert twice.cycles["tensor"] == found.cycles["tensor"] / 2


def test_throughput_leaves_out_what_is_waited_for() -> None:
    """Of a launch that DRAM bounds, and few bytes in flight, what an SM multiplies remains."""
    known = target("sm_80")
    counts = gemm(4096, 4096, 4096, 128)
    slow = replace(counts, in_flight=512, distinct=1e12)
    held = occupancy(256, 120, 65536, known)
    found = estimate(slow, known, held, 32 * 32, 256, 1 << 40)
    multiplying = 4096**3 / 1024 / 108 / gpu_of(known).hertz
    assert found.seconds > 10 * multiplying
    assert multiplying <= found.throughput <= 1.1 * multiplying
