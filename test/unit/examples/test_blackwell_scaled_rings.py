"""Block-scaled products whose stages TMA and further warps fill, by CTAs alone and by pairs.

Faults are put into the PTX, wherever their pattern matches: each is found. More random programs:
TILEC_RANDOM_BLACKWELL=1000 pytest …
"""

from __future__ import annotations

import copy
import os
import random
import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec import sim
from tilec.isa import target
from tilec.passes.hopper.ring_parts import LOADERS
from tilec.pipelines import Pipeline, pipeline
from tilec.sim import SimulationError

from .scaled_programs import FORMATS, Bytes, Scaled

TWO = "has two accumulators in tensor memory, which tiles take in turn"
PAIRS, ALONE = True, False
COUNT = int(os.environ.get("TILEC_RANDOM_BLACKWELL", "8"))
slow = pytest.mark.slow
both = pytest.mark.parametrize("pairs", [PAIRS, ALONE], ids=["pairs", "one CTA each"])


def passes(pairs: bool, **options: Any) -> Pipeline:
    """The pipeline, with pairs of CTAs or without, and options of `tile-place-accumulators`."""
    found = pipeline(target("sm_100a"))
    if options:
        name = "tile-place-accumulators"
        given = " ".join(f"{option}={value}" for option, value in options.items())
        found = found.replaced(name, f"{name}{{{given}}}")
    return found if pairs else found.replaced("tile-form-pairs")


@cache
def compiled(gemm: Scaled, pairs: bool, accumulators: int = 2) -> tilec.Compiled:
    """A program."""
    return gemm.compiled(pipeline=passes(pairs, accumulators=accumulators))


@pytest.mark.parametrize(
    ("gemm", "extents", "pairs", "sms"),
    [
        (Scaled("nvf4", 64, 128), (260, 130, 400), ALONE, 2),
        (Scaled("mxf8", 64, 128), (300, 72, 672), PAIRS, 2),
        pytest.param(Scaled("mxf8", 128, 128, 8), (500, 200, 672), ALONE, 3, marks=slow),
        pytest.param(Scaled("mxf8 of e5m2", 64, 256), (300, 72, 1056), PAIRS, 4, marks=slow),
        pytest.param(Scaled("mxf4", 64, 256), (300, 72, 1312), ALONE, 2, marks=slow),
        pytest.param(Scaled("mxf4", 128, 256, 8), (520, 260, 2080), PAIRS, 4, marks=slow),
        pytest.param(Scaled("nvf4", 128, 256), (260, 130, 1008), PAIRS, 2, marks=slow),
        pytest.param(Scaled("nvf4", 256, 128, 8), (260, 300, 528), PAIRS, 2, marks=slow),
        pytest.param(Scaled("nvf4", 256, 128, 8), (260, 300, 528), ALONE, 2, marks=slow),
        pytest.param(Scaled("mxf8", 64, 128), (300, 72, 0), PAIRS, 2, marks=slow),
        pytest.param(Scaled("mxf8", 64, 128), (300, 72, 0), ALONE, 2, marks=slow),
        pytest.param(Scaled("mxf8", 64, 128), (100, 72, 96), PAIRS, 2, marks=slow),
    ],
)
def test_products(gemm: Scaled, extents: tuple[int, int, int], pairs: bool, sms: int) -> None:
    """Ragged, without findings, where CTAs take one tile after the other as requests succeed."""
    program = compiled(gemm, pairs)
    group = "tcgen05.{}.cta_group::" + "12"[pairs]
    kind = FORMATS[gemm.name].kind
    assert f"{group.format('mma')}.kind::{kind}.block_scale" in program.ptx
    assert f"{group.format('cp')}.32x128b.warpx4" in program.ptx
    for needed in ("cp.async.bulk.tensor.2d", "clusterlaunchcontrol.try_cancel", "cp.async.ca"):
        assert needed in program.ptx
    gemm.run(program, extents, sms=sms)


GEMM = Scaled("mxf8", 64, 128)


@slow
@pytest.mark.parametrize("seed", range(COUNT))
def test_random_products(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is drawn, in an order of warps that a seed draws."""
    draw = random.Random(seed)
    name = draw.choice(list(FORMATS))
    fours = 4 * FORMATS[name].block
    rows, cols = draw.choice([128, 128, 256]), draw.choice([16, 32, 64, 128, 256])
    warps = draw.choice([4, 8])
    if rows * cols > 128 * 128:
        rows, warps = 128, 8
    gemm = Scaled(name, cols, fours * draw.choice([1, 1, 2]), warps, rows=rows)
    blocks = draw.randrange(1, 12 * fours // FORMATS[name].block)
    extents = draw.randrange(1, 3 * rows), draw.randrange(1, 3 * cols), blocks * FORMATS[name].block
    program = compiled(gemm, draw.random() < 0.7, draw.choice([1, 2, 2]))
    monkeypatch.setattr(sim, "launch", partial(sim.launch, order=seed))
    gemm.run(program, extents, sms=draw.choice([2, 3, 4]))


@slow
@both
def test_one_accumulator(pairs: bool) -> None:
    """An option of the pass leaves the products to the threads that load their sums."""
    one, two = (compiled(GEMM, pairs, count) for count in (1, 2))
    assert [any(TWO in str(said) for said in which.remarks) for which in (one, two)] == [0, 1]
    GEMM.run(one, (500, 130, 672), sms=2)


@slow
@both
@pytest.mark.parametrize("seed", range(3))
def test_in_orders_that_a_seed_draws(
    seed: int, pairs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sim, "launch", partial(sim.launch, order=seed))
    GEMM.run(compiled(GEMM, pairs), (500, 130, 800), sms=2)


@pytest.mark.parametrize(
    ("gemm", "pairs", "why"),
    [
        (
            Scaled("nvf4", 256, 256, 8),
            PAIRS,
            "has one accumulator: 2 x 256 columns, and 2 x 48 of scale factors, are more than the "
            "512 of an SM",
        ),
        (
            Scaled("nvf4", 64, 128, apart=4),
            ALONE,
            "is not split into warps that load and warps that compute: its rows are only known to "
            "be a multiple of 8 bytes apart, not of 16",
        ),
    ],
    ids=["columns", "no tensor map"],
)
def test_a_remark_says_why_not(gemm: Scaled, pairs: bool, why: str) -> None:
    said = [str(one) for one in compiled(gemm, pairs).remarks]
    assert any(why in one for one in said), said


@tilec.kernel(warps=8, target="sm_100a")
def two_products(
    a: Bytes,
    b: Bytes,
    scale_a: Bytes,
    scale_b: Bytes,
    c: tl.Array[tl.float32, int, int],
    depth: int,
) -> None:
    """A·Bᵀ of nvf4 twice, of 256 columns and of 64, one loop after the other."""
    acc, more = tl.zeros((128, 256)), tl.zeros((128, 64))
    for k in range(0, depth, 256):
        x = tl.load(a, (0, k), (128, 256), dtype=tl.float4_e2m1fn)
        y = tl.load(b, (0, k), (256, 256), dtype=tl.float4_e2m1fn).T
        p = tl.load(scale_a, (0, k // 16), (128, 16), dtype=tl.float8_e4m3fn)
        q = tl.load(scale_b, (0, k // 16), (256, 16), dtype=tl.float8_e4m3fn).T
        acc = tl.dot_scaled(x, p, y, q, acc)
    tl.store(c, (0, 0), acc)
    for k in range(0, depth, 64):
        x = tl.load(a, (0, k), (128, 64), dtype=tl.float4_e2m1fn)
        y = tl.load(b, (0, k), (64, 64), dtype=tl.float4_e2m1fn).T
        p = tl.load(scale_a, (0, k // 16), (128, 4), dtype=tl.float8_e4m3fn)
        q = tl.load(scale_b, (0, k // 16), (64, 4), dtype=tl.float8_e4m3fn).T
        more = tl.dot_scaled(x, p, y, q, more)
    tl.store(c, (0, 256), more)


@slow
def test_stages_that_tensor_memory_has_columns_for() -> None:
    """Of 512 columns sums take 256 + 64 and the other product's factors 8: 3 x 48 are left.

    Of shared memory there would be for four stages.
    """
    gemm = Scaled("nvf4", 256, 256, 8)
    arguments, wanted = gemm.arguments((128, 256, 528))
    c = np.full((128, 320), np.nan, np.float32)
    arguments[4] = c
    program = two_products.compile(*arguments)
    said = [str(one) for one in program.remarks]
    assert any("a ring of 3 stages" in one for one in said), said
    program.launch(*arguments, grid=(1, 1), device="sim")
    for found, right in ((c[:, :256], wanted), (c[:, 256:], wanted[:, :64])):
        np.testing.assert_allclose(found, right, rtol=0, atol=2e-7 * float(np.abs(wanted).max()))


@slow
@both
@pytest.mark.parametrize("name", FORMATS)
def test_ptxas_has_nothing_to_note(
    name: str, pairs: bool, assemblers_for: Callable[..., list[Any]]
) -> None:
    ptx = compiled(Scaled(name, 128, 256, 8), pairs).ptx
    for ptxas in assemblers_for(target("sm_100a")):
        status, report = ptxas.run(ptx, "sm_100a", "-v")
        assert status == 0, report
        assert not re.search(r"C7[56]\d\d|[Pp]otential|[Ww]arning|tcgen05", report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


_WAIT = r"(mbarrier\.try_wait[^\n]*\n(?:[^\n]*\n){1,3}?)[^\n]*bra [^\n]*\n"
_BEHIND = r"((?:(?![^\n]*try_wait)[^\n]*\n){1,60}?[^\n]*%s)"
_ARRIVALS = {PAIRS: 2 * LOADERS + 1, ALONE: LOADERS + 1}
_INIT = r"(mov\.b32 \t%r\d+, ){count};(?=\n[^\n]*\n[^\n]*mbarrier\.init)"
FAULTS = {
    # What the pattern is, what stands there instead, and findings of which there is one.
    "no fence behind the copies": (
        r"fence\.proxy\.async\.shared::cta;(\n\tbar\.warp\.sync)", r"\1", "proxy",
    ),
    "no wait for the copies": (r"cp\.async\.wait_group[^\n]*", "", "async|race"),
    "a wait for fewer copies": (
        r"(cp\.async\.wait_group) \t\d+;", r"\1 \t6;", "async|race",
    ),
    "copies of no group": (r"cp\.async\.commit_group;", "", "async|race"),
    "an arrival too few": (_INIT, "", "async|race|proxy|deadlock|barrier|tensor-memory"),
    "an arrival too many": (_INIT, "", "deadlock"),
    "a stage that may be read": (
        _WAIT + _BEHIND % r"cp\.async\.ca", r"\1\2", "async|race|proxy|tensor-memory|barrier",
    ),
    "no commit of a stage": (
        r"(kind::mxf8f6f4[^\n]*(?:\n[^\n]*){1,12}?)tcgen05\.commit[^\n]*(?=(?:\n[^\n]*){3}setp)",
        r"\1", "deadlock",
    ),
    "factors that are not copied": (
        r"tcgen05\.cp[^\n]*", "", "uninitialised|tensor-memory",
    ),
    "products before their operands": (
        _WAIT + _BEHIND % r"tcgen05\.cp", r"\1\2", "async|race|proxy|uninitialised|tensor-memory",
    ),
    "columns that nobody gives back": (r"tcgen05\.dealloc[^\n]*", "", "tensor-memory"),
}  # fmt: skip
OF_PAIRS = {
    "arrivals at the CTA's own mbarrier": (
        r"mapa\.shared::cluster\.u32 (%r\d+), (%r\d+), %r\d+;(?=(?:\n[^\n]*){3}@)",
        r"mov.b32 \1, \2;", "deadlock",
    ),
}  # fmt: skip


@slow
@both
@pytest.mark.parametrize("name", [*FAULTS, *OF_PAIRS])
def test_faults_are_found(name: str, pairs: bool) -> None:
    if name in OF_PAIRS and not pairs:
        pytest.skip("a fault of pairs")
    old, new, kinds = {**FAULTS, **OF_PAIRS}[name]
    if old is _INIT:
        old = old.replace("{count}", str(_ARRIVALS[pairs]))
        new = rf"\g<1>{_ARRIVALS[pairs] + (1 if 'many' in name else -1)};"
    program = compiled(GEMM, pairs)
    ptx, count = re.subn(old, new, program.ptx)
    assert count
    wrong = copy.copy(program)
    vars(wrong)["ptx"] = ptx
    with pytest.raises(SimulationError) as found:
        GEMM.run(wrong, (500, 130, 1100), sms=2)
    assert found.value.report is not None
    said = [one.kind for one in found.value.report.findings]
    assert any(re.search(kinds, kind) for kind in said), said
