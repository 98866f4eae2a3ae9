"""Products of tiles by pairs of CTAs, from level 2 to the simulator against numpy."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.isa import TilecError, target
from tilec.passes.instrumentation import Instrumentation
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import Source
from tilec.sim import SimulationError
from tilec.validation.validator import Validator

from .pair_tiles import pair_copies, pair_tiles

TYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f8E4M3FN": ml_dtypes.float8_e4m3fn}


def check(text: str, rows: int, n: int, depth: int, element: str, *, pairs: int = 1) -> None:
    """Compile, run on the simulator, and compare with numpy: sums of small integers are exact."""
    rng = np.random.default_rng(rows + n)
    shapes = (2 * pairs * rows, depth), (n, depth)
    a, b = (rng.integers(-3, 4, shape).astype(TYPES[element]) for shape in shapes)
    c = rng.integers(-3, 4, (2 * pairs * rows, n)).astype(np.float32)
    begin = c.copy() if "tile.load" in text else np.zeros_like(c)
    program = tilec.compile(text, target="sm_100a", name="pair.mlir", lineinfo=True)
    report = program.launch(a, b, c, grid=2 * pairs, device="sim")
    assert not report.findings
    np.testing.assert_array_equal(c, begin + a.astype(np.float32) @ b.astype(np.float32).T)


def test_two_pairs() -> None:
    """Several rounds, of which the first does not add; K is not a multiple of a round."""
    check(pair_tiles(128, 64), 128, 64, 168, "f16", pairs=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "n", "element", "begun"),
    [
        (128, 256, "f16", False),
        (256, 64, "f16", False),
        (128, 128, "bf16", False),
        (128, 64, "f8E4M3FN", False),
        (128, 64, "f16", True),
    ],
)
def test_others(rows: int, n: int, element: str, begun: bool) -> None:
    check(pair_tiles(rows, n, element, begun=begun), rows, n, 256, element)


@pytest.mark.parametrize("automatic", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_copies(automatic: bool, assemblers_for: Callable[..., list[Any]]) -> None:
    """Of ragged extents, by a ring of each CTA that TMA fills, or by copies of all threads."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((226, 200), (200, 104)))
    c = np.zeros((226, 104), np.float32)
    program = tilec.compile(pair_copies(automatic=automatic), target="sm_100a")
    assert ("cp.async.bulk.tensor" in program.ptx) == automatic
    report = program.launch(a, b, c, grid=2, device="sim")
    assert not report.findings
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))
    for ptxas in assemblers_for(target("sm_100a")):
        status, said = ptxas.run(program.ptx, "sm_100a", "-v")
        assert status == 0, said
        assert "0 bytes spill stores" in said


@pytest.mark.slow
def test_interpreter() -> None:
    """The product of halves has an interpretation, and what becomes of it has the same."""
    found = Validator(shrinks=False)
    chip = 'gpu.module @m [#nvvm.target<chip = "sm_100a">] {'
    text = pair_tiles(128, 64).replace("gpu.module @m {", chip)
    module = parse(Source("-", text), new_context())
    passes = ["tile-place-accumulators", "tile-allocate-tensor-memory"]
    watched = Instrumentation(watchers=(found.around,))
    run_pipeline(module, passes, instrumentation=watched)
    assert found.validated == passes
    assert not found.left


def test_ptxas_takes_it(assemblers_for: Callable[..., list[Any]]) -> None:
    """In one group only, and without spills."""
    ptx = tilec.compile(pair_tiles(128, 64), target="sm_100a").ptx
    assert "cta_group::2" in ptx
    assert "cta_group::1" not in ptx
    for ptxas in assemblers_for(target("sm_100a")):
        status, report = ptxas.run(ptx, "sm_100a", "-v")
        assert status == 0, report
        assert "0 bytes spill stores" in report


FAULTS = {
    "a commit that tells one CTA": (
        r"(tcgen05\.commit[^\n]*)\.multicast::cluster(\.b64 \[%r\d+\]), %rs\d+;", r"\1\2;",
        "deadlock",
    ),
    "an arrival at the CTA's own mbarrier": (
        r"mapa\.shared::cluster\.u32 (%r\d+), (%r\d+), %r\d+;", r"mov.b32 \1, \2;", "deadlock"
    ),
    "one CTA is not waited for": (
        r"(mov\.b32 \t%r\d+, )2;(?=\n[^\n]*\n[^\n]*mbarrier\.init)", r"\g<1>1;",
        "async|race|uninitialised|tensor-memory|deadlock",
    ),
    "no cluster barrier before columns are given back": (
        r"barrier\.cluster\.arrive\.aligned;\s*barrier\.cluster\.wait\.aligned;"
        r"(?=\s*//[^\n]*\s*tcgen05\.fence::after)", "", "tensor-memory|cluster|exited|deadlock",
    ),
    "columns that nobody gives back": (r"tcgen05\.dealloc[^\n]*", "", "tensor-memory"),
    "sums that nobody waits for": (
        r"(mbarrier\.try_wait[^\n]*cluster[^\n]*\n(?:[^\n]*\n){1,3}?)[^\n]*bra [^\n]*\n", r"\1",
        "async|tensor-memory|race",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    """Faults in the PTX are found."""
    old, new, kinds = FAULTS[name]
    program = tilec.compile(pair_tiles(128, 64), target="sm_100a")
    ptx, count = re.subn(old, new, program.ptx)
    assert count
    wrong = copy.copy(program)
    vars(wrong)["ptx"] = ptx
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (rows, 168)).astype(np.float16) for rows in (256, 64))
    with pytest.raises(SimulationError) as found:
        wrong.launch(a, b, np.zeros((256, 64), np.float32), grid=2, device="sim")
    assert found.value.report is not None
    found_kinds = [one.kind for one in found.value.report.findings]
    assert any(re.search(kinds, kind) for kind in found_kinds), found_kinds


def test_a_cluster_is_needed() -> None:
    text = pair_tiles(128, 64).replace(", known_cluster_size = array<i32: 2, 1, 1>", "")
    line = 1 + next(n for n, one in enumerate(text.splitlines()) if "tile.tensor_dot" in one)
    says = "a pair of CTAs in a kernel with no cluster; legal: known_cluster_size"
    with pytest.raises(TilecError, match=rf"p\.mlir:{line}:\d+: error: .*{says}"):
        _ = tilec.compile(text, target="sm_100a", name="p.mlir", cache=False).ptx
