"""A warp-specialised GEMM: right where it is right, and each deliberate fault is found, by line."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest

from .specialised_gemm import STAGE, run, text

TO_SHARED = "cp.async.bulk.tensor.2d.shared::cluster"
WAIT_FULL = "mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], %phase; @!%p bra FULL;"
WAIT_EMPTY = WAIT_FULL.replace("FULL", "EMPTY")
ARRIVE = " @%leader mbarrier.arrive.shared::cta.b64 _, [%bar];"
INIT = "mbarrier.init.shared::cta.b64 [%empty],"
FLIP = "@%wrap xor.b32 %phase, %phase, 1;"


@pytest.mark.parametrize(
    ("m", "n", "k", "tiles"), [(256, 64, 320, 2), (200, 72, 200, 1), (130, 8, 8, 2)]
)
@pytest.mark.parametrize("order", [None, 1, 2])
def test_right(m: int, n: int, k: int, tiles: int, order: int | None) -> None:
    """Whole tiles and ragged ones, all warps together and one after the other."""
    report, found, expected = run(text(), m, n, k, tiles=tiles, order=order)
    report.require_ok()
    assert np.array_equal(found, expected)


def test_right_without_checks() -> None:
    _, found, expected = run(text(), checks=False)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("order", [None, 1])
def test_a_cluster_shares_a(order: int | None) -> None:
    report, found, expected = run(text(cluster=True), n=128, cluster=True, order=order)
    report.require_ok()
    assert np.array_equal(found, expected)


def line_of(ptx: str, part: str, number: int = 0) -> int:
    """The line of the text that holds a part, the first or a later one."""
    found = [n for n, line in enumerate(ptx.splitlines(), 1) if part in line]
    return found[number]


FAULTS: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    # what: replacements, the kind of the finding, what stands in the line that it names
    "fence": ([(" wgmma.fence.sync.aligned;\n", "")], "wgmma", "wgmma.mma_async"),
    "fence of the second step": (
        [(" wgmma.fence.sync.aligned;\n", " @!%scale wgmma.fence.sync.aligned;\n"),
         ("FULL:", " mov.f32 %f0, %f0; mul.f32 %f0, %f0, 0f3F800000;\nFULL:")],
        "wgmma", "wgmma.mma_async"),
    "proxy fence": ([(" fence.proxy.async.shared::cta;\n", "")], "proxy", "2d.global.shared::cta"),
    "expect_tx": (
        [(f".expect_tx.shared::cta.b64 _, [%bar], {STAGE}", ".shared::cta.b64 _, [%bar]")],
        "async", "wgmma.mma_async"),
    "parity of the consumer": (
        [("mov.u32 %phase, 0; mov.u32 %last", "mov.u32 %phase, 1; mov.u32 %last")],
        "async", "wgmma.mma_async"),
    "parity of the producer": (
        [("mov.u32 %phase, 1;\nLOAD_TILE", "mov.u32 %phase, 0;\nLOAD_TILE")],
        "deadlock", "bra EMPTY"),
    "parity that is not flipped": (
        [(f"{FLIP}\n add.u32 %k, %k, 1; setp.lt.u32 %more, %k, %steps; @%more bra STEP",
          "\n add.u32 %k, %k, 1; setp.lt.u32 %more, %k, %steps; @%more bra STEP")],
        "async", "wgmma.mma_async"),
    "one stage too few": (
        [(f"mul.lo.u32 %stage_at, %stage, {STAGE};",
          f"min.u32 %stage_at, %stage, 1; mul.lo.u32 %stage_at, %stage_at, {STAGE};")],
        "async", TO_SHARED),
    "release that is early": (
        [(" mad.lo.u32 %bar, %last, 8, %empty; setp.eq.u32 %p, %k, 0; @%p bra KEPT;",
          " mad.lo.u32 %bar, %stage, 8, %empty;"),
         (f"aligned 0;\n mad.lo.u32 %bar, %last, 8, %empty;\n{ARRIVE}", "aligned 0;")],
        "async", TO_SHARED),
    "wait that is too weak": (
        [("wgmma.wait_group.sync.aligned 0", "wgmma.wait_group.sync.aligned 1")],
        "wgmma", "cvt.rn.f16x2"),
    "wait in the loop that is too weak": (
        [("wgmma.wait_group.sync.aligned 1", "wgmma.wait_group.sync.aligned 2")],
        "async", TO_SHARED),
    "commit": ([(" wgmma.commit_group.sync.aligned;\n", "")], "async", TO_SHARED),
    "swizzle of the descriptor": (
        [(str(1 << 62 | 64 << 32 | 1 << 16), str(2 << 62 | 64 << 32 | 1 << 16))],
        "wgmma", "wgmma.mma_async"),
    "descriptor beyond shared memory": (
        [("add.u32 %r1, %stage_at, 16384; shr", "add.u32 %r1, %stage_at, 90112; shr")],
        "wgmma", "wgmma.mma_async"),
    "too many bytes expected": ([(f"[%bar], {STAGE}", f"[%bar], {STAGE + 16}")],
                                "deadlock", "bra FULL"),
    "too few bytes expected": ([(f"[%bar], {STAGE}", f"[%bar], {STAGE - 8192}")],
                               "async", "wgmma.mma_async"),
    "wait for the full stage": ([(WAIT_FULL, "")], "async", "wgmma.mma_async"),
    "loop around that wait": ([("@!%p bra FULL;", "")], "async", "wgmma.mma_async"),
    "wait for the empty stage": ([(WAIT_EMPTY, "")], "async", TO_SHARED),
    "wait_group.read": ([(" @%leader cp.async.bulk.wait_group.read 0;\n", "")],
                        "async", "st.shared"),
    "barrier before the epilogue": ([(" bar.sync 1, 256;\n cvt", " cvt")], "async", "st.shared"),
    "barrier before the store": (
        [(" fence.proxy.async.shared::cta;\n bar.sync 1, 256;", " fence.proxy.async.shared::cta;")],
        "race", "2d.global.shared::cta"),
    "last wait": ([(" @%leader cp.async.bulk.wait_group 0;\n", "")],
                  "async", "2d.global.shared::cta"),
    "more registers than there are": ([("u32 232", "u32 240")], "deadlock", "setmaxnreg.inc"),
    "dec that is an inc": ([("u32 40", "u32 176")], "registers", "setmaxnreg.dec"),
    "barrier after init": ([("READY:\n bar.sync 0;", "READY:")], "race", "bra FULL"),
    "arrivals that never come": (
        [(f"{INIT} 2", f"{INIT} 3")],
        "deadlock", "bra EMPTY"),
    "arrivals too many": (  # two phases a round, of which the producer sees one
        [(f"{INIT} 2", f"{INIT} 1")],
        "mbarrier", "bra EMPTY"),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault: str) -> None:
    replacements, kind, part = FAULTS[fault]
    ptx = text()
    for old, new in replacements:
        assert old in ptx
        ptx = ptx.replace(old, new)
    report, *_ = run(ptx, 512, 64, 512)
    lines = ptx.splitlines()
    named = [(f.kind, f"{lines[f.line - 1]} {lines[f.line]}") for f in report.findings]
    assert any(k == kind and part in line for k, line in named), report.findings


def test_a_box_that_is_too_small_leaves_bytes_that_never_come() -> None:
    report, *_ = run(text(), rows=64)
    assert report.findings[0].kind == "deadlock"
    assert "8192 bytes pending" in report.findings[0].message
    assert report.findings[0].line in (line_of(text(), "bra FULL"), line_of(text(), "bra EMPTY"))


def test_a_box_that_is_too_small_leaves_bytes_that_nothing_has_written() -> None:
    report, *_ = run(text().replace(f"[%bar], {STAGE}", f"[%bar], {STAGE - 8192}"), rows=64)
    (finding,) = report.findings
    assert finding.kind == "uninitialised"
    assert "cp.async.bulk.tensor.2d.global" in finding.message
    read = re.search(r"which holds what line (\d+) read and nothing has written", finding.message)
    assert read is not None
    assert "wgmma.mma_async" in text().splitlines()[int(read[1]) - 1]


def test_a_deadlock_names_who_waits_for_what() -> None:
    ptx = text().replace(f"[%bar], {STAGE}", f"[%bar], {STAGE + 16}")
    report, *_ = run(ptx, 256, 64, 128, tiles=1)
    (finding,) = report.findings
    assert finding.kind == "deadlock"
    waits = finding.message.removeprefix("no thread can make progress: ").split("; ")
    full = line_of(ptx, "bra FULL")
    assert (
        f"warps 4 to 11 of CTA (0, 0, 0) wait at <ptx>:{full} for a phase of parity 0 of the "
        "mbarrier at 0x16000, which is in phase 0 with 0 of 1 arrivals and 16 bytes pending"
    ) in waits
    assert not any("warp 0 " in wait for wait in waits)  # it has loaded both stages, and exited


CLUSTER_FAULTS: dict[str, tuple[str, str, str, str]] = {
    "begin": (" barrier.cluster.arrive.relaxed.aligned;\n barrier.cluster.wait.acquire.aligned;",
              " bar.sync 0;", "cluster", "multicast"),
    "end": (" barrier.cluster.arrive.aligned;\n barrier.cluster.wait.aligned;", "",
            "cluster", "mbarrier.arrive.release.cluster"),
    "fence of the init": (" fence.mbarrier_init.release.cluster;\n", "", "cluster", "multicast"),
    "one CTA's release": (" @%leader mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r2];",
                          "", "deadlock", "bra EMPTY"),
    "rank": (" mapa.shared::cluster.u32 %r2, %bar, 1;", "mapa.shared::cluster.u32 %r2, %bar, 2;",
             "out-of-bounds", "mbarrier.arrive.release.cluster"),
}  # fmt: skip


@pytest.mark.parametrize("fault", CLUSTER_FAULTS)
def test_faults_of_a_cluster_are_found(fault: str) -> None:
    old, new, kind, part = CLUSTER_FAULTS[fault]
    ptx = text(cluster=True)
    assert old in ptx
    ptx = ptx.replace(old, new)
    report, *_ = run(ptx, 512, 128, 512, cluster=True)
    if kind == "deadlock":
        place = f":{line_of(ptx, part)} for a phase"
        assert any(f.kind == kind and place in f.message for f in report.findings)
    else:
        lines = ptx.splitlines()
        named = [(f.kind, f"{lines[f.line - 1]} {lines[f.line]}") for f in report.findings]
        assert any(k == kind and part in line for k, line in named), report.findings


@pytest.mark.parametrize("cluster", [False, True])
def test_it_assembles(cluster: bool, assemblers: list) -> None:
    for ptxas in assemblers:
        status, report = ptxas.run(text(cluster=cluster), "sm_90a")
        assert (status, report) == (0, "")


def test_counts() -> None:
    """k/64 steps of four products for each consumer and tile; bytes of boxes, whole ones."""
    report, *_ = run(text(), 512, 64, 320)
    steps = 5 * 4
    (count,) = report.matrix
    assert count.warps == steps * 4 * 4 * 2
    assert count.flops == 2 * 64 * 64 * 16 * steps * 4 * 2
    loads, stores = steps * STAGE, 4 * 128 * 64 * 2
    assert report.copied == loads + stores
    copies = [line for line in report.lines if line.copied]
    assert [line.copied for line in copies] == [
        steps * 16384, steps * 8192, stores
    ]  # fmt: skip
    waits = [line for line in report.lines if "try_wait" in line.instruction]
    assert [report.waits, report.waits_in_vain] == [
        sum(line.warps for line in waits), sum(line.waits_in_vain for line in waits)
    ]  # fmt: skip
    assert 0 < report.waits_in_vain < report.waits
    # A wgmma reads 64 rows of A and 64 of B, 32 bytes of each.
    assert report.operand_bytes == steps * 4 * 2 * (64 + 64) * 32


def test_seeds_do_not_matter() -> None:
    results = [run(text(), order=seed)[1] for seed in range(3)]
    assert all(np.array_equal(a, b) for a, b in itertools.pairwise(results))
