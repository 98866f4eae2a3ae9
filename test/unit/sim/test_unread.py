"""Copies to shared memory that are read in part are advice; cases count bytes by themselves."""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch
from tilec.sim.native.library import library

HEAD = """.version 8.5
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>;
  .shared .align 128 .b8 smem[2048]; .shared .align 8 .b64 bar;
  ld.param.u64 %rd1, [x]; cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x; mov.u32 %r3, smem; mov.u32 %r4, bar;
  mul.lo.u32 %r5, %r1, 16; cvt.u64.u32 %rd2, %r5; add.s64 %rd3, %rd1, %rd2; add.u32 %r6, %r3, %r5;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 mbarrier.init.shared.b64 [%r4], 1;
  bar.sync 0;
"""
COPY = "cp.async.cg.shared.global [%r6], [%rd3], 16; // here\n"
WAIT = "cp.async.wait_all; bar.sync 0;\n"
FIRST_WORD = "ld.shared.u32 %r10, [%r6];"
WORDS = "ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6];"
NEXT_ROW = "setp.lt.u32 %p3, %r1, 63; @%p3 ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6+16];"
BULK = """
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 1024;
  @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes // here
    [%r3], [%rd1], 1024, [%r4];
again:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r4], 0;
  @!%p2 bra again;
"""
AHEAD = """cp.async.cg.shared.global [%r6+1024], [%rd3], 16; // ahead
"""
HALF = "setp.lt.u32 %p4, %r1, 32; @%p4 ld.shared.v4.u32 {%r10, %r11, %r12, %r13}, [%r6+1024];"
STORE = """
  @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r3], BYTES;
  @%p1 cp.async.bulk.commit_group;
  @%p1 cp.async.bulk.wait_group 0;
"""

CASES = {
    # body: (bytes that were left, bytes of them that nothing read, the first), or nothing
    "all words": (COPY + WAIT + WORDS, None),
    "one word of four": (COPY + WAIT + FIRST_WORD, (1024, 768, 4)),
    "nothing": (COPY + WAIT, None),
    "a stage ahead": (COPY + AHEAD + WAIT + WORDS, None),
    "half of a stage ahead": (COPY + AHEAD + WAIT + WORDS + HALF, (1024, 512, 1536)),
    "the next row": (COPY + WAIT + NEXT_ROW, (1024, 16, 0)),
    "loads that are volatile": (COPY + WAIT + WORDS.replace("ld.", "ld.volatile."), None),
    "an atomic of each word": (
        COPY + WAIT + "".join(f"atom.shared.add.u32 %r10, [%r6+{at}], 1;" for at in (0, 4, 8, 12)),
        None,
    ),
    "overwritten by stores": (
        COPY + WAIT + "st.shared.v4.u32 [%r6], {%r1, %r1, %r1, %r1};", None
    ),
    "copied again": (COPY.replace("// here\n", "") + WAIT + WORDS + " bar.sync 0;" + COPY + WAIT
                     + FIRST_WORD, (1024, 768, 4)),
    "in bulk, all words": (BULK + WORDS, None),
    "in bulk, a quarter": (BULK + "and.b32 %r7, %r5, 255; add.u32 %r7, %r3, %r7;"
                           + WORDS.replace("%r6", "%r7"), (1024, 768, 256)),
    "in bulk, stored in bulk": (BULK + STORE.replace("BYTES", "1024"), None),
    "in bulk, half of it stored": (BULK + STORE.replace("BYTES", "512"), (1024, 512, 512)),
}  # fmt: skip


def run(body: str, ctas: int = 1) -> Report:
    text = HEAD + body + "\n ret;\n}\n"
    return launch(text, "k", ctas, 64, [np.arange(1024, dtype=np.uint32)])


@pytest.mark.parametrize("name", CASES)
def test_copies_that_nothing_reads(name: str) -> None:
    body, expected = CASES[name]
    report = run(body)
    assert report.ok, [str(one) for one in report.findings]
    if expected is None:
        assert not report.advice, str(report.advice[0])
        return
    (advice,) = report.advice
    left, unread, first = expected
    mark = "// ahead" if "// ahead" in body else "// here"
    (line,) = [n for n, one in enumerate(f"{HEAD}{body}".splitlines(), 1) if mark in one]
    assert (advice.kind, advice.line, advice.address) == ("unread", line, first)
    assert (
        f"copies {left:,} bytes that were left in the shared memory of CTA (0, 0, 0), of which "
        f"nothing has read {unread:,}, the first at {first:#x}" in str(advice)
    )
    assert f"advice: unread: <ptx>:{line}: " in report.to_text()


def test_ctas_of_all_waves_count() -> None:
    (advice,) = run(COPY + WAIT + FIRST_WORD, ctas=300).advice
    assert advice.count == 300


def test_a_run_with_findings_ends_before_it_is_asked() -> None:
    report = run(COPY + "setp.eq.u32 %p4, %r1, 0; @%p4 trap;")
    assert {one.kind for one in report.findings} == {"trap"}
    assert not report.advice


@pytest.mark.skipif(library() is None, reason="no machine code for this processor")
def test_machine_code_finds_the_same(both, accesses) -> None:
    turns = "mov.u32 %r20, 0;\nagain:\n{} bar.sync 0; add.u32 %r20, %r20, 1;"
    turns += "setp.lt.u32 %p5, %r20, 5;\n@%p5 bra again;\n ret;\n}}\n"
    text = HEAD + turns.format(COPY + WAIT + FIRST_WORD)
    _, report, _ = both(text, "k", 1, 64, given=[np.arange(1024, dtype=np.uint32)])
    assert any(accesses)
    assert [one.kind for one in report.advice] == ["unread"]
