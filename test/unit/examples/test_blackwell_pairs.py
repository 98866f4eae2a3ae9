"""Products of tiles that two CTAs compute together, from level 1 to the simulator against numpy.

Programs are those that one CTA computes by itself; nothing in them names a pair.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import tilec
from tilec import sim
from tilec.isa import target
from tilec.launch.abi import Abi
from tilec.launch.schema import SchemaError
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

from .blackwell_programs import Gemm

GEMM = Gemm("f16", (128, 64, 64), 8)
EXTENTS = (300, 72, 200)
"""Three rows of tiles: the second CTA of the last pair has none."""
PAIR = "tcgen05.mma.cta_group::2"
BLOCK = "{known_block_size"
slow = pytest.mark.slow


@cache
def compiled(gemm: Gemm = GEMM, *attributes: str, passes: str = "") -> tilec.Compiled:
    """A program, with further attributes of the kernel, or another pass than `tile-form-pairs`."""
    text = gemm.text().replace(BLOCK, "{" + "".join(f"{one}, " for one in attributes) + BLOCK[1:])
    how = pipeline(target("sm_100a"))
    return tilec.compile(text, pipeline=how.replaced("tile-form-pairs", passes) if passes else how)


@pytest.mark.parametrize(
    ("gemm", "extents"),
    [
        (GEMM, EXTENTS),
        (Gemm("f8E4M3FN", (128, 64, 64), 4, (True, False)), (140, 130, 200)),
        pytest.param(Gemm("f8E5M2", (128, 64, 128), 4, (False, True)), (300, 130, 200), marks=slow),
        pytest.param(Gemm("bf16", (128, 128, 32), 8, (True, True)), (300, 200, 130), marks=slow),
        pytest.param(Gemm("tf32", (128, 64, 32), 8, (False, True)), (300, 130, 90), marks=slow),
        pytest.param(Gemm("i8", (128, 64, 64), 8, (False, True)), (300, 130, 200), marks=slow),
        pytest.param(Gemm("f16", (128, 256, 64), 8), (300, 300, 300), marks=slow),
        pytest.param(Gemm("f16", (256, 64, 32), 8), (600, 130, 100), marks=slow),
        pytest.param(Gemm("f16", (128, 64, 64), 4, adds=True), EXTENTS, marks=slow),
        pytest.param(Gemm("f16", (128, 64, 64), 4, narrow=True), EXTENTS, marks=slow),
        pytest.param(GEMM, (130, 72, 0), marks=slow),
        pytest.param(GEMM, (100, 200, 64), marks=slow),
    ],
    ids=[
        *("three rows of tiles", "bytes along M", "bytes along K", "bf16", "tf32", "integers"),
        *("256 columns", "two matrices", "adds C", "16-bit sums", "no K", "one row of tiles"),
    ],
)
def test_products(gemm: Gemm, extents: tuple[int, int, int]) -> None:
    """Exact, without findings, where each pair takes one tile after the other."""
    program = compiled(gemm)
    assert PAIR in program.ptx
    assert "tcgen05.mma.cta_group::1" not in program.ptx
    assert program.kernels[0].cluster == (2, 1, 1)
    gemm.run(program, extents, sms=2)


@slow
@pytest.mark.parametrize("seed", range(5))
def test_each_tile_once(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever clusters a seed hands out, and whatever requests it lets fail."""
    program = compiled()
    assert "clusterlaunchcontrol.try_cancel" in program.ptx
    monkeypatch.setattr(sim, "launch", partial(sim.launch, order=seed))
    GEMM.run(program, (700, 200, 150), sms=4)


@pytest.mark.parametrize("sms", [2, pytest.param(5, marks=slow)])
def test_in_steps(sms: int) -> None:
    """Without requests: as many pairs as SMs have room for."""
    program = compiled(GEMM, 'tile.schedule = "static"')
    assert PAIR in program.ptx
    assert "clusterlaunchcontrol" not in program.ptx
    assert program.kernels[0].launched((2, 5, 1), 5) == (4, 1, 1)
    GEMM.run(program, EXTENTS, sms=sms)


def test_the_launch() -> None:
    """A cluster for each two rows of tiles, also for the last of an odd number."""
    kernel = compiled().kernels[0]
    assert kernel.ctas_per_sm is None
    assert kernel.cluster_tiles == (1, 2, 1)
    assert kernel.launched((3, 5, 2), 148) == (36, 1, 1)
    source = compiled().c_launcher("gemm").source
    assert "unsigned ctas = 2u * ((grid_x + 0u) / 1u) * ((grid_y + 1u) / 2u) * (" in source
    abi = compiled().abi
    assert Abi.parse(str(abi)) == abi
    document = json.loads(str(abi))
    document["kernels"][0]["ctas_per_sm"] = 1
    with pytest.raises(SchemaError, match="'ctas_per_sm' and 'cluster_tiles' say how many CTAs"):
        Abi.parse(json.dumps(document))


@pytest.mark.parametrize("how", ["tile.cluster = array<i64: 1, 1, 1>", "enabled=false"])
def test_one_cta_alone(how: str) -> None:
    """An attribute of the kernel, or an option of the pass, leaves each CTA its own product."""
    if "=" in how.partition(" ")[0]:
        program = compiled(GEMM, passes=f"tile-form-pairs{{{how}}}")
    else:
        program = compiled(GEMM, how)
    assert PAIR not in program.ptx
    assert program.kernels[0].cluster is None


@pytest.mark.parametrize(
    ("gemm", "attribute", "why"),
    [
        (Gemm("f16", (64, 64, 64), 8), "", "64x64 of D in each CTA is not for products of a pair"),
        (Gemm("f16", (128, 16, 64), 8), "", "has 64 lines of 16 bytes in memory"),
        (Gemm("f16", (128, 64, 64), 8, doubles=True), "", "has A in tensor memory"),
        (GEMM, "tile.persistent = false", "each of its CTAs takes one tile"),
        (GEMM, "tile.cluster = array<i64: 1, 4, 1>", "4 neighbours along y are not two"),
        (GEMM, "tile.cluster = array<i64: 2, 1, 1>", "no neighbours in the grid multiply"),
        (GEMM, "known_grid_size = array<i32: 4, 1, 1>", "no neighbours in the grid multiply"),
    ],
)
def test_a_remark_says_why_not(gemm: Gemm, attribute: str, why: str) -> None:
    program = compiled(gemm, *filter(None, [attribute]))
    assert PAIR not in program.ptx
    said = [str(one) for one in program.remarks if "has no pairs of CTAs" in str(one)]
    assert len(said) == 1
    assert why in said[0]


@pytest.mark.parametrize("name", ["sm_100a", pytest.param("sm_103a", marks=slow)])
def test_ptxas_has_nothing_to_note(name: str, assemblers_for: Callable[..., list[Any]]) -> None:
    ptx = tilec.compile(GEMM.text(name)).ptx
    assert PAIR in ptx
    for ptxas in assemblers_for(target(name)):
        status, report = ptxas.run(ptx, name, "-v")
        assert status == 0, report
        assert not re.search(r"C7[56]\d\d|[Pp]otential|[Ww]arning|tcgen05", report), report
        assert "0 bytes spill stores, 0 bytes spill loads" in report


_COMMIT = r"(tcgen05\.commit[^\n]*)\.multicast::cluster(\.b64 \[%r\d+\]), %rs\d+;"
_TO_EVEN = r"mapa\.shared::cluster\.u32 (%r\d+), (%r\d+), %r\d+;"
_INIT = r"(mov\.b32 \t%r\d+, ){count};(?=\n[^\n]*\n[^\n]*mbarrier\.init)"
FAULTS = {
    "commits that tell one CTA": (_COMMIT, r"\1\2;", "deadlock"),
    "arrivals at the CTA's own mbarrier": (_TO_EVEN, r"mov.b32 \1, \2;", "deadlock"),
    "one CTA's sums are not awaited": (
        _INIT.replace("{count}", "16"), r"\g<1>8;", "async|race|tensor-memory|deadlock",
    ),
    "bytes of one CTA alone": (
        r"(mov\.b32 \t%r\d+, )40960;(?=\n[^\n]*\n[^\n]*expect_tx)", r"\g<1>20480;",
        "deadlock|async|race",
    ),
    "copies that tell the CTA's own mbarrier": (
        r"(cp\.async\.bulk\.tensor[^\n]*)\.cta_group::2", r"\1", "deadlock|async",
    ),
    "no barriers of the cluster": (
        r"barrier\.cluster\.(?:arrive|wait)\.aligned;", "",
        "cluster|tensor-memory|exited|deadlock|race|barrier|uninitialised",
    ),
    "columns that nobody gives back": (r"tcgen05\.dealloc[^\n]*", "", "tensor-memory"),
    "sums that nobody waits for": (
        r"(mbarrier\.try_wait[^\n]*\n(?:[^\n]*\n){1,3}?)[^\n]*bra [^\n]*\n", r"\1",
        "async|tensor-memory|race|proxy",
    ),
    "no fences after": (r"tcgen05\.fence::after[^\n]*", "", "tensor-memory"),
    "no fences before": (r"tcgen05\.fence::before[^\n]*", "", "tensor-memory"),
    "a response for one CTA": (
        r"\.multicast::cluster::all(?=\.b128)", "", "deadlock|launch-control|uninitialised",
    ),
    "no waits for loads": (r"tcgen05\.wait::ld[^\n]*", "", "tensor-memory"),
}  # fmt: skip


@slow
@pytest.mark.parametrize("name", FAULTS)
def test_faults_are_found(name: str) -> None:
    """Faults in the PTX, wherever their pattern matches."""
    old, new, kinds = FAULTS[name]
    ptx, count = re.subn(old, new, compiled().ptx)
    assert count
    wrong = copy.copy(compiled())
    vars(wrong)["ptx"] = ptx
    with pytest.raises(SimulationError) as found:
        GEMM.run(wrong, (500, 130, 600), sms=2)
    assert found.value.report is not None
    said = [one.kind for one in found.value.report.findings]
    assert any(re.search(kinds, kind) for kind in said), said


@slow
@pytest.mark.parametrize(
    ("where", "kinds"),
    [
        ("blackwell.rings.Ring.release", "deadlock"),
        ("blackwell.rings.Ring.await_full", "async"),
        ("blackwell.rings.Ring.take_over", "async"),
        ("place_accumulators._Placed._wait", "tensor-memory|deadlock"),
        ("place_accumulators._Placed._both_are_ready", "tensor-memory"),
        ("place_accumulators._Placed._await_ready", "tensor-memory"),
    ],
)
def test_what_a_ring_needs(where: str, kinds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The simulator finds what the passes would leave out."""
    monkeypatch.setattr(f"tilec.passes.{where}", lambda *_: None)
    name = "tile-place-accumulators"  # by threads that also load the sums
    passes = pipeline(target("sm_100a")).replaced(name, f"{name}{{accumulators=1}}")
    program = tilec.compile(GEMM.text(), pipeline=passes)
    with pytest.raises(SimulationError) as found:
        GEMM.run(program, (700, 40, 600), sms=2)
    assert found.value.report is not None
    assert re.search(kinds, found.value.report.findings[0].kind)
