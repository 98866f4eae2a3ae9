"""Two accumulators in turn: products of the next tile while sums of one are loaded and stored."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
import tilec
from tilec import sim
from tilec.isa import target
from tilec.passes.blackwell.alternation import Alternation
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

from .blackwell_programs import Gemm

GEMM = Gemm("f16", (128, 64, 64), 8)
EXTENTS = (500, 200, 150)
"""Sixteen tiles, of which one CTA takes several."""
BLOCK = "{known_block_size"
ALONE = "tile.cluster = array<i64: 1, 1, 1>"
TWO = "has two accumulators in tensor memory, which tiles take in turn"
slow = pytest.mark.slow


def compiled(gemm: Gemm = GEMM, *attributes: str, accumulators: int = 2) -> tilec.Compiled:
    """A program, with further attributes of the kernel."""
    text = gemm.text().replace(BLOCK, "{" + "".join(f"{one}, " for one in attributes) + BLOCK[1:])
    name = "tile-place-accumulators"
    passes = pipeline(target("sm_100a")).replaced(name, f"{name}{{accumulators={accumulators}}}")
    return tilec.compile(text, pipeline=passes)


def columns(program: tilec.Compiled) -> int:
    """Columns that a program allocates."""
    (found,) = re.findall(r"tcgen05\.alloc[^\n]*, (\d+);", program.ptx)
    return int(found)


@pytest.mark.parametrize(
    ("gemm", "attributes"),
    [
        (GEMM, (ALONE,)),
        pytest.param(GEMM, (ALONE, 'tile.schedule = "static"'), marks=slow),
        pytest.param(Gemm("bf16", (64, 64, 32), 8, (True, True)), (), marks=slow),
        pytest.param(Gemm("f16", (128, 64, 64), 4, narrow=True), (ALONE,), marks=slow),
        pytest.param(Gemm("f16", (256, 64, 32), 8), (), marks=slow),
        pytest.param(Gemm("tf32", (128, 32, 32), 4, (False, True)), (), marks=slow),
    ],
    ids=["requests", "steps", "64 rows", "16-bit sums", "two matrices", "tf32 by pairs"],
)
def test_products(gemm: Gemm, attributes: tuple[str, ...]) -> None:
    program = compiled(gemm, *attributes)
    assert any(TWO in str(one) for one in program.remarks)
    gemm.run(program, EXTENTS, sms=2)


@slow
@pytest.mark.parametrize("seed", range(4))
def test_in_orders_that_a_seed_draws(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sim, "launch", partial(sim.launch, order=seed))
    GEMM.run(compiled(GEMM, ALONE), EXTENTS, sms=1)


@slow
@pytest.mark.parametrize("attributes", [(), (ALONE,)], ids=["pairs", "one CTA each"])
def test_no_k(attributes: tuple[str, ...]) -> None:
    """What is loaded is the zeros that sums begin with."""
    GEMM.run(compiled(GEMM, *attributes), (300, 130, 0), sms=2)


@pytest.mark.parametrize("attributes", [(), (ALONE,)], ids=["pairs", "one CTA each"])
def test_one_accumulator(attributes: tuple[str, ...]) -> None:
    """An option of the pass leaves the products to the threads that load their sums."""
    one, two = (compiled(GEMM, *attributes, accumulators=count) for count in (1, 2))
    assert (columns(one), columns(two)) == (64, 128)
    GEMM.run(one, (300, 130, 150), sms=2)


@pytest.mark.parametrize(
    ("gemm", "why"),
    [
        (
            Gemm("f16", (256, 256, 32), 16, narrow=True),
            "2 x 512 columns are more than the 512 of an SM",
        ),
        (Gemm("f16", (128, 64, 64), 8, adds=True), "its sums do not begin with zero"),
    ],
)
def test_a_remark_says_why_not(gemm: Gemm, why: str) -> None:
    said = [str(one) for one in compiled(gemm).remarks]
    assert not any(TWO in one for one in said)
    assert any(f"has one accumulator: {why}" in one for one in said)


@slow
@pytest.mark.parametrize(
    ("where", "kinds"),
    [
        ("blackwell.rings.Ring.take_over", "async|deadlock"),
        ("blackwell.alternation.commit", "deadlock"),
        ("blackwell.alternation.Alternation._await", "tensor-memory|async"),
        ("blackwell.alternation.fence", "tensor-memory"),
    ],
)
@pytest.mark.parametrize("attributes", [(), (ALONE,)], ids=["pairs", "one CTA each"])
def test_what_it_needs(
    where: str, kinds: str, attributes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The simulator finds what the pass would leave out."""
    monkeypatch.setattr(f"tilec.passes.{where}", lambda *_, **__: None)
    with pytest.raises(SimulationError) as found:
        GEMM.run(compiled(GEMM, *attributes), (700, 130, 600), sms=2)
    assert found.value.report is not None
    assert re.search(kinds, found.value.report.findings[0].kind)


@slow
@pytest.mark.parametrize("attributes", [(), (ALONE,)], ids=["pairs", "one CTA each"])
def test_sums_that_were_not_loaded_yet(
    attributes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accumulator is not for another tile before all warps have its sums."""
    waits = Alternation._await

    def skipped(self: Alternation, number: Any, parity: Any) -> None:
        if (
            getattr(parity.owner, "name", "") != "arith.xori"
        ):  # the thread that issues waits for the other one
            waits(self, number, parity)

    monkeypatch.setattr(Alternation, "_await", skipped)
    with pytest.raises(SimulationError) as found:
        GEMM.run(compiled(GEMM, 'tile.schedule = "static"', *attributes), (900, 130, 64), sms=2)
    assert found.value.report is not None
    assert "tensor-memory" in [one.kind for one in found.value.report.findings]
