"""Races between CTAs through bulk and tensor copies: kernels that race, and their right twins.

The expectation is the PTX ISA's: what a copy does is ordered after its issue, and before what
follows a wait for it. The first of each pair must give a race at the line marked `// here`, which
names the line marked `// there`; the second nothing.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import tilec
from tilec.launch.arguments import passed
from tilec.launch.simulated import for_simulator
from tilec.sim import Report, TensorMap, launch
from tilec.sim.checks.copied_places import whole_segments

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 tile[1024];
.shared .align 8 .b64 full;
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 x, .param .u64 flags)
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
 mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1; ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [flags];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, tile; mov.u32 %r4, full;
 setp.eq.u32 %p1, %r1, 0; setp.ne.u32 %p2, %r2, 0;
 shl.b32 %r5, %r2, 10; cvt.u64.u32 %rd4, %r5; add.s64 %rd4, %rd2, %rd4; // 1024 bytes of this CTA
 shl.b32 %r6, %r2, 3; // 8 rows of this CTA
 shl.b32 %r7, %r1, 4; add.u32 %r8, %r3, %r7; mov.b32 %r9, VALUE;
 st.shared.v4.u32 [%r8], {%r9, %r9, %r9, %r9};
 cvt.u64.u32 %rd5, %r7; add.s64 %rd5, %rd2, %rd5; // x[4 * thread]
 @%p1 mbarrier.init.shared::cta.b64 [%r4], 1;
 fence.proxy.async.shared::cta; bar.sync 0;
"""
END = "\ndone: ret; }\n"
WAIT = "@%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"
BULK = "@%p1 cp.async.bulk.global.shared::cta.bulk_group [{}], [%r3], 1024;"
BOX = "@%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {{0, {}}}], [%r3];"
REDUCE = "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [{}], [%r3], 1024;"
REDUCE_BOX = BOX.replace("cp.async.bulk.tensor.2d.global.shared::cta",
                         "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add")  # fmt: skip
TX = "mbarrier::complete_tx::bytes [%r3]"
ARRIVE = "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r4], 1024;"
FETCH = f"@%p1 cp.async.bulk.shared::cluster.global.{TX}, [{{}}], 1024, [%r4];"
FETCH_BOX = FETCH.replace("bulk.shared", "bulk.tensor.2d.shared").replace(
    "[{}], 1024", "[%rd1, {{0, {}}}]"
)
ARRIVED = "w: mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4], 0; @!%p3 bra w;"
SET = "bar.sync 0; fence.acq_rel.gpu; @%p1 st.relaxed.gpu.global.u32 [%rd3], 1;"
POLL = """poll: ld.relaxed.gpu.global.u32 %r10, [%rd3]; setp.eq.u32 %p3, %r10, 0; @%p3 bra poll;
 fence.acq_rel.gpu;"""
FENCE = "fence.proxy.async.global;"
STORE, LOAD = "st.global.v4.u32 [%rd5], {%r1, %r1, %r1, %r1};", "ld.global.u32 %r11, [%rd5];"


def there(text: str) -> str:
    return f"\n {text} // there\n"


def here(text: str) -> str:
    return f"\n {text} // here\n"


def first_other(first: str, other: str) -> str:
    """What CTA 0 does, and what CTA 1 does."""
    return f"@%p2 bra other; {first} bra done; other: {other}"


PAIRS = {
    "bulk stores of different values": (
        here(BULK.format("%rd2")) + WAIT,
        BULK.format("%rd4") + WAIT,
    ),
    "boxes that overlap in a row": (
        f"mad.lo.u32 %r6, %r2, 7, 0; {here(BOX.format('%r6'))} {WAIT}",
        BOX.format("%r6") + WAIT,
    ),
    "a box and a bulk store": (
        first_other(there(BOX.format(4)) + WAIT, here(BULK.format("%rd4")) + WAIT),
        first_other(BOX.format(0) + WAIT, BULK.format("%rd4") + WAIT),
    ),
    "reductions, one that is a store": (
        first_other(there(BULK.format("%rd2")) + WAIT, here(REDUCE.format("%rd2")) + WAIT),
        REDUCE.format("%rd2") + WAIT,
    ),
    "reductions of boxes, and a load": (
        first_other(there(REDUCE_BOX.format(0)) + WAIT, here(LOAD)),
        first_other(REDUCE_BOX.format(0) + WAIT, REDUCE_BOX.format(1) + WAIT),
    ),
    "a bulk store is read by threads": (
        first_other(there(BULK.format("%rd2")) + WAIT + SET.replace("fence.acq_rel.gpu;", ""),
                    POLL + here(LOAD)),
        first_other(BULK.format("%rd2") + WAIT + SET, POLL + LOAD),
    ),
    "a store is read by a bulk copy": (
        first_other(there(STORE + FENCE), here(ARRIVE + FETCH.format("%rd2")) + ARRIVED),
        first_other(STORE + FENCE + SET, POLL + ARRIVE + FETCH.format("%rd2") + ARRIVED),
    ),
    "a store is read by a box": (
        first_other(there(STORE + FENCE), here(ARRIVE + FETCH_BOX.format(0)) + ARRIVED),
        first_other(STORE + SET, POLL + FENCE + ARRIVE + FETCH_BOX.format(0) + ARRIVED),
    ),
    "a flag before the copy that reads": (
        first_other(SET + "bar.sync 0;" + there(ARRIVE + FETCH.format("%rd2")) + ARRIVED,
                    POLL + here(STORE)),
        first_other(ARRIVE + FETCH.format("%rd2") + ARRIVED + SET, POLL + STORE),
    ),
    "a flag before the wait for a store": (
        first_other(there(BULK.format("%rd2")) + SET + WAIT, POLL + here(LOAD)),
        first_other(BULK.format("%rd2") + WAIT + SET, POLL + LOAD),
    ),
}  # fmt: skip


def run(body: str, value: str = "%r2", ctas: int = 2) -> Report:
    x, flags = np.zeros((8 * ctas, 32), np.uint32), np.zeros(4, np.uint32)
    text = HEAD.replace("VALUE", value) + body + END
    return launch(text, "k", ctas, 64, [TensorMap(x, box=(8, 32)), x, flags], max_steps=20_000)


@pytest.mark.parametrize("name", PAIRS)
def test_kinds(name: str) -> None:
    wrong, right = PAIRS[name]
    found = run(right)
    assert found.ok, [str(one) for one in found.findings]
    assert not [one for one in found.advice if one.kind != "unread"]
    report = run(wrong)
    assert {one.kind for one in report.findings} == {"race"}, report.findings
    lines = f"{HEAD}{wrong}".splitlines()
    (line,) = [n for n, text in enumerate(lines, 1) if "// here" in text]
    other = [n for n, text in enumerate(lines, 1) if "// there" in text] or [line]
    assert report.findings[0].line == line
    assert f"at line {other[0]}; nothing orders the two CTAs" in str(report.findings[0])


@pytest.mark.parametrize("store", [BULK.format("%rd2"), BOX.format(0)])
def test_the_same_values_are_advice(store: str) -> None:
    report = run(store + WAIT, "7")
    assert report.ok
    assert {one.kind for one in report.advice} == {"same-value"}


def test_ctas_of_different_waves() -> None:
    """CTAs of 64 threads come in waves of 128; the box of CTA 200 covers a row of CTA 0."""
    body = "setp.eq.u32 %p4, %r2, 200; @%p4 mov.b32 %r6, 7;" + here(BOX.format("%r6")) + WAIT
    report = run(body, ctas=201)
    (race,) = report.findings
    assert race.kind == "race"
    # The rows of CTA 0 and of CTA 1.
    assert "of CTA (200, 0, 0) writes byte 896 of argument 0" in race.message
    assert "warp 0 of CTA (0, 0, 0) wrote" in race.message
    assert run(BOX.format("%r6") + WAIT, ctas=201).ok


def test_boxes_of_a_product_of_matrices_that_overlap() -> None:
    """A right kernel whose second CTA is made to store half of its rows where the first does."""
    path = Path(__file__).parents[3] / "examples" / "hopper" / "gemm.mlir"
    compiled = tilec.compile(path)
    (kernel,) = compiled.kernels
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((256, 64)), rng.standard_normal((256, 64))
    a, b = a.astype(np.float16), b.astype(np.float16)

    def product(ptx: str) -> tuple[Report, np.ndarray]:
        c = np.zeros((256, 256), np.float16)
        maps = for_simulator(passed(kernel, [a, b, c]))
        shared = kernel.dynamic_shared
        return launch(ptx, "gemm", (2, 1), kernel.block or 0, maps, dynamic_smem=shared), c

    report, c = product(compiled.ptx)
    assert report.ok
    assert np.allclose(c, a.astype(np.float32) @ b.T, atol=0.05)
    store = re.compile(r"(cp\.async\.bulk\.tensor\.2d\.global\S* \[\S+ \{\S+ )(%r\d+)(\}.*)")
    wrong = store.sub(r"{ .reg .b32 %low; min.s32 %low, \2, 64; \1%low\3 }", compiled.ptx)
    report, _ = product(wrong)
    assert {one.kind for one in report.findings} == {"race"}
    assert "of CTA (1, 0, 0) writes byte 32768 of" in report.findings[0].message
    assert "warp 8 of CTA (0, 0, 0) wrote" in report.findings[0].message


def test_segments_that_copies_fill() -> None:
    """Against a count of bytes."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        size, segment = int(2 ** rng.integers(0, 5)), int(2 ** rng.integers(5, 8))
        rows, wide, pitch = (int(n) for n in rng.integers(1, 40, 3))
        start = int(rng.integers(0, 50))
        at = start + np.arange(rows)[:, None] * (wide + pitch * int(rng.integers(0, 2)))
        places = ((at + np.arange(wide)) * size).reshape(-1)
        segments, rest = whole_segments(places, size, segment)
        touched = np.zeros((places.max() + size + segment) // segment * segment, np.int64)
        touched[(places[:, None] + np.arange(size)).reshape(-1)] = 1
        full = np.flatnonzero(touched.reshape(-1, segment).all(axis=1))
        assert np.isin(segments, full).all()
        assert np.array_equal(rest, ~np.isin(places // segment, segments))
        if rows == 1:
            assert np.array_equal(segments, full)
