"""The cost model: cycles by the hardware's numbers, each worked out by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tilec.isa import target
from tilec.isa.rates import rates
from tilec.passes.analysis.costs import (
    Product,
    cost_of_round,
    producer_registers,
    read_along_curve,
    read_by_groups,
    rows_together,
    wavefronts,
)

HOPPER = target("sm_90a")


@pytest.mark.parametrize(
    ("bits", "deep"),
    [(16, 64), (8, 128), (32, 32)],  # 128 bytes of K each
)
def test_products_of_warpgroups(bits: int, deep: int) -> None:
    """m64n256 with 32 bytes of K takes 128 cycles: four of them for each of two warpgroups."""
    product = Product(128, 256, deep, bits, of_warpgroups=True, columns=256)
    assert cost_of_round([product], 0, HOPPER).products == 2 * 4 * 128


def test_bytes_of_shared_memory() -> None:
    """An m64n256 reads 32 bytes of each column of B and 2 KiB of A, 128 bytes a cycle."""
    product = Product(128, 256, 64, 16, of_warpgroups=True, columns=256)
    read = 8 * (256 * 32 + 2048)
    assert cost_of_round([product], 0, HOPPER).shared == read / 128
    alone = product._replace(a_in_registers=True)
    assert cost_of_round([alone], 0, HOPPER).shared == 8 * 256 * 32 / 128
    arrived = cost_of_round([product], 49152, HOPPER)
    assert arrived.shared == (read + 49152) / 128


def test_sparse_products() -> None:
    """m64n256k32 takes as long as m64n256k16, reads twice the rows of B, and A as it is stored."""
    dense = Product(128, 256, 64, 16, of_warpgroups=True, columns=256)
    sparse = dense._replace(k=128, of_stored=2)
    found = cost_of_round([sparse], 0, HOPPER)
    assert found.products == 2 * 4 * 128
    assert found.shared == 8 * (256 * 64 + 2048) / 128


def test_bytes_from_l2() -> None:
    """8e6 bytes in 1,300 cycles, for 132 SMs; what takes longest is what the round takes."""
    product = Product(128, 256, 64, 16, of_warpgroups=True, columns=256)
    whole = cost_of_round([product], 49152, HOPPER)
    assert whole.l2 == pytest.approx(49152 * 132 * 1300 / 8e6)
    assert whole.cycles == whole.l2 > whole.products
    shared = cost_of_round([product], 32768, HOPPER)
    assert shared.cycles == shared.products == 1024


@pytest.mark.parametrize(
    ("name", "tflops", "sms", "megahertz"),
    [("sm_80", 312, 108, 1410), ("sm_90a", 989.4, 132, 1830)],
)
def test_rates_are_those_of_the_data_sheets(
    name: str, tflops: float, sms: int, megahertz: float
) -> None:
    """Peak of f16 products: A100 and H100 SXM."""
    known = rates(target(name))
    of_sm = known.products(of_warpgroups=name == "sm_90a", bits=16)
    assert of_sm * 2 * sms * megahertz * 1e6 == pytest.approx(tflops * 1e12, rel=1e-2)


def test_every_target_has_rates() -> None:
    assert rates(target("sm_75")) == rates(target("sm_80"))
    assert rates(target("sm_121a")) == rates(target("sm_120a"))
    assert rates(target("sm_90")).mma < rates(target("sm_90a")).wgmma


@pytest.mark.parametrize(
    ("entry", "groups", "accumulators", "wanted"),
    [
        # As DeepGEMM, CUTLASS and FlashAttention-3 have it: 240 registers beside 24, 232 beside 40,
        # and with three warpgroups all that there are.
        (168, 2, 128, 40),
        (168, 2, 208, 24),
        (128, 3, 96, 24),
    ],
)
def test_registers_of_those_that_load(
    entry: int, groups: int, accumulators: int, wanted: int
) -> None:
    assert producer_registers(entry, groups, accumulators) == wanted


def test_warps_read_shared_memory() -> None:
    """A kilobyte is eight wavefronts of 32 banks of four bytes; one of four warps reads."""
    assert wavefronts(8 * 1024) == 1024 / (32 * 4) / 2


def test_the_page_says_what_the_model_does() -> None:
    """Of 128x256x64 of f16 on sm_90a, and of 132 tiles of 128x256."""
    page = (Path(__file__).parents[3] / "docs" / "hopper.md").read_text(encoding="utf-8")
    product = Product(128, 256, 64, 16, of_warpgroups=True, columns=256)
    alone, shared = (cost_of_round([product], size, HOPPER) for size in (48 << 10, 32 << 10))
    said = " ".join(page.split())
    assert (
        f"products take {alone.products:.0f} cycles, and 48 KiB from L2 take {alone.l2:.0f}, "
        f"or {shared.l2:.0f} with a cluster"
    ) in said
    group = rows_together(128, 256, 132)
    grouped, along = read_by_groups(group, 128, 256, 132), read_along_curve(128, 256, 132)
    assert (
        f"132 tiles of 128x256 read {grouped:.0f} in groups of {group} rows and {along:.0f} along "
        "curves"
    ) in said
