"""CTAs that take over tiles of others compute each once, in whatever order they are handed out."""

from __future__ import annotations

import re
from functools import partial

import pytest
import tilec
from tilec import sim
from tilec.isa import TilecError, target
from tilec.pipelines import pipeline
from tilec.sim import SimulationError

from .blackwell_programs import Gemm

GEMM = Gemm("f16", (128, 64, 64), 8)
EXTENTS = (500, 200, 150)
slow = pytest.mark.slow


@pytest.fixture(scope="module", params=["pairs", pytest.param("one CTA each", marks=slow)])
def program(request):
    """The product by pairs of CTAs, which take over clusters, and by each CTA for itself."""
    text = GEMM.text()
    if request.param != "pairs":
        alone = "{tile.cluster = array<i64: 1, 1, 1>, known_block_size"
        text = text.replace("{known_block_size", alone)
    found = tilec.compile(text)
    assert ("cta_group::2" in found.ptx) == (request.param == "pairs")
    return found


@pytest.mark.parametrize("seed", [None, *(pytest.param(n, marks=slow) for n in range(1, 5))])
def test_each_tile_once(program, seed, monkeypatch):
    """Whatever clusters a seed hands out, and whatever requests it lets fail."""
    assert "clusterlaunchcontrol.try_cancel" in program.ptx
    assert program.kernels[0].ctas_per_sm is None
    launch = sim.launch
    reports = []

    def kept(*args, **how):
        reports.append(launch(*args, **how))
        return reports[-1]

    monkeypatch.setattr(sim, "launch", partial(kept, order=seed))
    GEMM.run(program, EXTENTS)
    assert not reports[0].findings


@slow
@pytest.mark.parametrize("how", ["kernel", "option"])
def test_the_schedule_is_pinned(how):
    """By an attribute of the kernel, or an option of the pass."""
    text = GEMM.text()
    if how == "kernel":
        text = text.replace("{known_block_size", '{tile.schedule = "static", known_block_size')
        made = tilec.compile(text)
    else:
        passes = pipeline(target("sm_100a")).replaced(
            "tile-make-persistent", "tile-make-persistent{schedule=static}"
        )
        made = tilec.compile(text, pipeline=passes)
    assert "clusterlaunchcontrol" not in made.ptx
    assert made.kernels[0].ctas_per_sm == 1
    GEMM.run(made, EXTENTS, sms=2)


def test_what_cannot_be_pinned():
    """Unknown words, and targets that have no such clusters."""
    text = GEMM.text().replace("{known_block_size", '{tile.schedule = "guided", known_block_size')
    with pytest.raises(TilecError, match=r'tile\.schedule = "guided"; legal: "static", "dynamic"'):
        tilec.compile(text)
    text = text.replace("guided", "dynamic").replace("sm_100a", "sm_90a")
    with pytest.raises(
        TilecError, match=r"needs clusterlaunchcontrol\.try_cancel.*sm_90a does not"
    ):
        tilec.compile(text)


@slow
def test_rows_that_are_gone_down(program):
    """An order of tiles that the kernel asks for is that of tiles taken over, too."""
    text = GEMM.text().replace("{known_block_size", "{tile.rasterize = 2 : i64, known_block_size")
    made = tilec.compile(text)
    assert made.ptx != program.ptx
    GEMM.run(made, EXTENTS)


_READ = (
    r"fence\.proxy\.async\.shared::cta;\n(?=(?:.*\n){0,7}\tmbarrier\.arrive\.release\.c\w+\.shared)"
)
_QUERY = r"(?=(?:.*\n){1,6}\t\{ \.reg \.b128)"
FAULTS = [
    ("the response is not waited for", rf"\t@%p\d+ bra .*\n{_QUERY}", "", "async"),
    ("other bytes are expected", r"(mov\.b32 .*), 16;(?=(?:.*\n){1,3}.*expect_tx)", r"\1, 32;",
     "deadlock"),
    ("nobody says that it was read",
     rf"({_READ}(?:.*\n){{1,8}}?)\tmbarrier\.arrive\.release.*\n", r"\1", "deadlock"),
]  # fmt: skip


@slow
@pytest.mark.parametrize(("old", "new", "kind"), [pytest.param(*f[1:], id=f[0]) for f in FAULTS])
def test_faults_are_found(program, old, new, kind, monkeypatch):
    """What is left out of the PTX is found when it runs."""
    launch = sim.launch

    def faulty(ptx, *args, **how):
        wrong, count = re.subn(old, new, program.ptx)
        assert count
        return launch(wrong, *args, **how)

    monkeypatch.setattr(sim, "launch", faulty)
    with pytest.raises(SimulationError) as found:
        GEMM.run(program, EXTENTS)
    assert found.value.report is not None
    assert kind in [one.kind for one in found.value.report.findings]
