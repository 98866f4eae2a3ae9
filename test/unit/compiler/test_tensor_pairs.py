"""Products of pairs of CTAs, from level 3 to the simulator against numpy, and faults in one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
from tilec import sim
from tilec.isa import target
from tilec.sim import SimulationError

from .pair_program import pair_program


def run(text: str, m: int, n: int) -> tuple[Any, Any]:
    """The program's sums, and numpy's."""
    rng = np.random.default_rng(m)
    a, b = (rng.integers(-3, 4, (rows, 64)).astype(np.float16) for rows in (m, n))
    c = np.zeros((m, n), np.float32)
    program = tilec.compile(text, target="sm_100a", name="pair.mlir", lineinfo=True)
    program.launch(a, b, c, grid=2, device="sim")
    return c, a.astype(int) @ b.astype(int).T


@pytest.mark.parametrize("m", [128, 256])
def test_products(m: int) -> None:
    """Of 256 rows each CTA has 128 lanes, of 128 rows 64 in two banks."""
    found, wanted = run(pair_program(m, 64), m, 64)
    np.testing.assert_array_equal(found, wanted)


def test_ptxas_takes_it(assemblers_for: Callable[..., list[Any]]) -> None:
    program = tilec.compile(pair_program(256, 64), target="sm_100a")
    for ptxas in assemblers_for(target("sm_100a")):
        status, report = ptxas.run(program.ptx, "sm_100a", "-v")
        assert status == 0, report


ARRIVES = "      tile.barrier_arrive %both[%c0] of %c0 : !Bar\n"
FAULTS = {
    "one arrival is awaited, and two come": (
        "%both[%c0] count 2", "%both[%c0] count 1", "barrier_wait %done", "deadlock",
    ),
    "the peer's half is not waited for": (
        "      tile.barrier_wait %both[%c0] parity %false cluster : !Bar\n", "", "tile.tcgen05_mma",
        "async",
    ),
    "the peer is not told": ("multicast %c3", "multicast %true_", "barrier_wait %done", "deadlock"),
    "only one CTA is told of its half": (ARRIVES, "", "barrier_wait %done", "deadlock"),
    "sums that nobody waits for": (
        "    tile.barrier_wait %done[%c0] parity %false cluster : !Bar\n", "",
        "%x = tile.tcgen05_ld", "tensor-memory",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_faults(name: str) -> None:
    old, new, at, kind = FAULTS[name]
    text = pair_program(256, 64)
    assert text.count(old) == 1
    wrong = text.replace(old, new).replace("%true_", "%own")
    wrong = wrong.replace("    %true =", "    %own = arith.constant 1 : index\n    %true =")
    with pytest.raises(SimulationError) as found:
        run(wrong, 256, 64)
    assert found.value.report is not None
    findings = found.value.report.findings
    first = next(one for one in findings if one.kind == kind)
    lines = wrong.splitlines()
    named = [lines[int(number) - 1] for number in re.findall(r"pair\.mlir:(\d+)", first.message)]
    assert any(at in line for line in named), first.message


OF_PAIRS = (
    # The even CTA's mbarrier expects the bytes of both, and its thread alone waits for them.
    (r"(\tmov\.u32 \t(%r\d+), %cluster_ctaid\.x;\n)",
     r"\1.reg .pred %lead; .reg .b32 %twice, %far; setp.eq.u32 %lead, \2, 0;\n"),
    (r"\t(mbarrier\.arrive\.expect_tx\.\S+ _, \[(%r\d+)\]), (%r\d+);",
     r"shl.b32 %twice, \3, 1; @%lead \1, %twice; mapa.shared::cluster.u32 %far, \2, 0;"),
    (r"(complete_tx::bytes) (.*), \[%r\d+\];", r"\1.cta_group::2 \2, [%far];"),
    (r"(mbarrier\.try_wait\.parity\.acquire\.cta\S* (%p\d+),.*)",
     r"\1 @!%lead setp.eq.u32 \2, 0, 0;"),
)  # fmt: skip


def of_pairs(ptx: str) -> str:
    """The program, whose copies tell the mbarrier of the even CTA."""
    for old, new in OF_PAIRS:
        ptx, count = re.subn(old, new, ptx)
        assert count in (1, 2), old
    return ptx


def run_ptx(ptx: str) -> tuple[Any, Any]:
    """As `run`, with other PTX."""
    launch = sim.launch
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sim, "launch", lambda _, *args, **how: launch(ptx, *args, **how))
        return run(pair_program(256, 64), 256, 64)


def test_copies_that_tell_the_even_cta(assemblers_for: Callable[..., list[Any]]) -> None:
    """`.cta_group::2` of tensor copies: PTX ISA, "cp.async.bulk.tensor"."""
    ptx = of_pairs(tilec.compile(pair_program(256, 64), target="sm_100a").ptx)
    found, wanted = run_ptx(ptx)
    np.testing.assert_array_equal(found, wanted)
    for ptxas in assemblers_for(target("sm_100a")):
        assert ptxas.run(ptx, "sm_100a")[0] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [(".cta_group::2 [", " [", "async"), ("%twice;", "%r12;", "deadlock")],
    ids=["copies of one CTA", "bytes of one CTA"],
)
def test_faults_of_such_copies(old: str, new: str, kind: str) -> None:
    ptx = of_pairs(tilec.compile(pair_program(256, 64), target="sm_100a").ptx)
    assert old in ptx
    with pytest.raises(SimulationError) as wrong:
        run_ptx(ptx.replace(old, new))
    assert wrong.value.report is not None
    assert kind in [one.kind for one in wrong.value.report.findings]
