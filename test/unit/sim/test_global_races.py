"""Races for global memory within a CTA: each kind has a kernel that races and one that does not.

The first must give one race at the line marked `// here`, against the one marked `// there` unless
it races with itself; the second nothing, in the usual order of warps and in seeded ones.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch
from tilec.sim.checks import global_memory

HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>; .reg .b16 %h<9>;
  .shared .align 16 .b8 words[8192];
  .shared .align 8 .b64 object;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd3, %r2, 8192; add.s64 %rd1, %rd1, %rd3; // each CTA's own 8 KiB
  mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; // its thread's word
  mul.wide.u32 %rd6, %r1, 16; add.s64 %rd6, %rd1, %rd6; // its thread's four words
  xor.b32 %r3, %r1, 127; mul.wide.u32 %rd7, %r3, 4; add.s64 %rd7, %rd1, %rd7; // the opposite word
  xor.b32 %r4, %r1, 1; mul.wide.u32 %rd8, %r4, 4; add.s64 %rd8, %rd1, %rd8; // the neighbour's
  shr.u32 %r5, %r1, 5; and.b32 %r6, %r1, 31; mov.u32 %r7, words;
  mad.lo.u32 %r8, %r1, 16, %r7;
"""

PAIRS = {
    "store, load": (
        "st.global.u32 [%rd5], %r1; // there\n ld.global.u32 %r9, [%rd7]; // here",
        "st.global.u32 [%rd5], %r1; bar.sync 0; ld.global.u32 %r9, [%rd7];",
    ),
    "load, store": (
        "ld.global.u32 %r9, [%rd7]; // there\n st.global.u32 [%rd5], %r1; // here",
        "ld.global.u32 %r9, [%rd7]; bar.sync 0; st.global.u32 [%rd5], %r1;",
    ),
    "store, store": (
        "st.global.u32 [%rd5], %r1; // there\n st.global.u32 [%rd7], %r1; // here",
        "st.global.u32 [%rd5], %r1; bar.sync 0; st.global.u32 [%rd7], %r1;",
    ),
    "stores of different values at once": (
        "st.global.u32 [%rd1], %r1; // here",
        "st.global.u32 [%rd1], %r2;",
    ),
    "stores of one value by all, then of another": (
        "st.global.u32 [%rd1], 7; // there\n st.global.u32 [%rd1], 8; // here",
        "st.global.u32 [%rd1], 7; bar.sync 0; st.global.u32 [%rd1], 8;",
    ),
    "a value that all store, read by those who did not": (
        """setp.lt.u32 %p1, %r1, 32;
  @%p1 st.global.u32 [%rd1], 7; // there
  ld.global.u32 %r9, [%rd1]; // here""",
        "st.global.u32 [%rd1], 7; ld.global.u32 %r9, [%rd1];",
    ),
    "within a warp": (
        "st.global.u32 [%rd5], %r1; // there\n ld.global.u32 %r9, [%rd8]; // here",
        "st.global.u32 [%rd5], %r1; bar.warp.sync -1; ld.global.u32 %r9, [%rd8];",
    ),
    "a shuffle orders nothing": (
        """st.global.u32 [%rd5], %r1; // there
  shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;
  ld.global.u32 %r9, [%rd8]; // here""",
        """st.global.u32 [%rd5], %r1; shfl.sync.bfly.b32 %r10, %r1, 1, 31, -1;
  bar.warp.sync -1; ld.global.u32 %r9, [%rd8];""",
    ),
    "a barrier of the warp is not enough": (
        """st.global.u32 [%rd5], %r1; // there
  bar.warp.sync -1; ld.global.u32 %r9, [%rd7]; // here""",
        "st.global.u32 [%rd5], %r1; barrier.sync 0; ld.global.u32 %r9, [%rd7];",
    ),
    "vectors": (
        """st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1}; // there
  ld.global.u32 %r9, [%rd5]; // here""",
        """st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1};
  ld.global.v2.u32 {%r9, %r10}, [%rd6+8];""",
    ),
    "wide vectors": (
        """shl.b64 %rd9, %rd4, 3; add.s64 %rd9, %rd1, %rd9;
  st.global.v8.b32 [%rd9], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}; // there
  ld.global.u32 %r9, [%rd6]; // here""",
        """shl.b64 %rd9, %rd4, 3; add.s64 %rd9, %rd1, %rd9;
  st.global.v8.b32 [%rd9], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1};
  ld.global.u32 %r9, [%rd9+28];""",
    ),
    "bytes of one word": (
        """cvt.u64.u32 %rd9, %r1; add.s64 %rd9, %rd1, %rd9;
  st.global.u8 [%rd9], %r1; // there
  and.b64 %rd9, %rd9, -4; ld.global.u32 %r9, [%rd9]; // here""",
        """cvt.u64.u32 %rd9, %r1; add.s64 %rd9, %rd1, %rd9;
  st.global.u8 [%rd9], %r1; ld.global.u8 %r9, [%rd9];""",
    ),
    "overlapping halves": (
        """mul.wide.u32 %rd9, %r1, 2; add.s64 %rd9, %rd1, %rd9; cvt.u16.u32 %h1, %r1;
  st.global.u16 [%rd9], %h1; // there
  st.global.v4.u32 [%rd6+2048], {%r1, %r1, %r1, %r1};
  ld.global.u8 %r9, [%rd9+3]; // here""",
        """mul.wide.u32 %rd9, %r1, 2; add.s64 %rd9, %rd1, %rd9; cvt.u16.u32 %h1, %r1;
  st.global.u16 [%rd9], %h1; st.global.v4.u32 [%rd6+2048], {%r1, %r1, %r1, %r1};
  ld.global.u8 %r9, [%rd9+1];""",
    ),
    "generic addresses": (
        "st.u32 [%rd5], %r1; // there\n ld.u32 %r9, [%rd7]; // here",
        "st.u32 [%rd5], %r1; bar.sync 0; ld.u32 %r9, [%rd7];",
    ),
    "an atomic and a load": (
        "red.global.add.u32 [%rd1], 1; // there\n ld.global.u32 %r9, [%rd1]; // here",
        "red.global.add.u32 [%rd1], 1; ld.relaxed.gpu.global.u32 %r9, [%rd1];",
    ),
    "an atomic and a store": (
        "atom.global.add.u32 %r9, [%rd1], 1; // there\n st.global.u32 [%rd1], 5; // here",
        "atom.global.add.u32 %r9, [%rd1], 1; atom.global.exch.b32 %r9, [%rd1], 5;",
    ),
    "a store and an atomic": (
        "st.global.u32 [%rd5], 5; // there\n red.global.add.u32 [%rd7], 1; // here",
        "st.global.u32 [%rd5], 5; bar.sync 0; red.global.add.u32 [%rd7], 1;",
    ),
    "copied from what is written": (
        """st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1}; // there
  xor.b32 %r9, %r1, 64; mul.wide.u32 %rd9, %r9, 16; add.s64 %rd9, %rd1, %rd9;
  cp.async.cg.shared.global [%r8], [%rd9], 16; // here
  cp.async.wait_all;""",
        """st.global.v4.u32 [%rd6], {%r1, %r1, %r1, %r1}; bar.sync 0;
  xor.b32 %r9, %r1, 64; mul.wide.u32 %rd9, %r9, 16; add.s64 %rd9, %rd1, %rd9;
  cp.async.cg.shared.global [%r8], [%rd9], 16; cp.async.wait_all;""",
    ),
    "written after another thread's copy": (
        """cp.async.cg.shared.global [%r8], [%rd6], 16; // there
  cp.async.wait_all; st.global.u32 [%rd5], %r1; // here""",
        """cp.async.cg.shared.global [%r8], [%rd6], 16; cp.async.wait_all; bar.sync 0;
  st.global.u32 [%rd5], %r1;""",
    ),
    "a loop with one barrier too few": (
        """mov.u32 %r10, 0; mov.u32 %r11, %r1;
L: st.global.u32 [%rd5], %r11; // here
  bar.sync 0; ld.global.u32 %r11, [%rd7]; // there
  add.u32 %r11, %r11, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 3; @%p1 bra L;""",
        """mov.u32 %r10, 0; mov.u32 %r11, %r1;
L: st.global.u32 [%rd5], %r11;
  bar.sync 0; ld.global.u32 %r11, [%rd7]; bar.sync 0;
  add.u32 %r11, %r11, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 3; @%p1 bra L;""",
    ),
    "a loop that takes two buffers in turn": (
        """mov.u32 %r10, 0; mov.u32 %r11, %r1;
L: and.b32 %r12, %r10, 1; mul.wide.u32 %rd9, %r12, 0; add.s64 %rd10, %rd5, %rd9;
  add.s64 %rd11, %rd7, %rd9; st.global.u32 [%rd10], %r11; // here
  bar.sync 0; ld.global.u32 %r11, [%rd11]; // there
  add.u32 %r11, %r11, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 4; @%p1 bra L;""",
        """mov.u32 %r10, 0; mov.u32 %r11, %r1;
L: and.b32 %r12, %r10, 1; mul.wide.u32 %rd9, %r12, 1024; add.s64 %rd10, %rd5, %rd9;
  add.s64 %rd11, %rd7, %rd9; st.global.u32 [%rd10], %r11;
  bar.sync 0; ld.global.u32 %r11, [%rd11];
  add.u32 %r11, %r11, 1; add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, 4; @%p1 bra L;""",
    ),
    "barriers of half the threads": (
        """shr.u32 %r10, %r1, 6; add.u32 %r10, %r10, 1;
  st.global.u32 [%rd5], %r1; // there
  barrier.sync %r10, 64; ld.global.u32 %r9, [%rd7]; // here""",
        """shr.u32 %r10, %r1, 6; add.u32 %r10, %r10, 1; xor.b32 %r9, %r1, 63;
  mul.wide.u32 %rd9, %r9, 4; add.s64 %rd9, %rd1, %rd9; st.global.u32 [%rd5], %r1;
  barrier.sync %r10, 64; ld.global.u32 %r9, [%rd9];""",
    ),
    "producers arrive, consumers wait": (
        """setp.ge.u32 %p1, %r1, 64; @%p1 bra WAIT;
  bar.arrive 1, 128; st.global.u32 [%rd5], %r1; // there
  bra END;
WAIT: bar.sync 1, 128; ld.global.u32 %r9, [%rd7]; // here
END:""",
        """setp.ge.u32 %p1, %r1, 64; @%p1 bra WAIT;
  st.global.u32 [%rd5], %r1; bar.arrive 1, 128; bra END;
WAIT: bar.sync 1, 128; ld.global.u32 %r9, [%rd7];
END:""",
    ),
    "warps that have exited": (
        """setp.lt.u32 %p1, %r1, 64;
  st.global.u32 [%rd5], %r1; // there
  @%p1 ret;
  barrier.sync 1, 64; ld.global.u32 %r9, [%rd7]; // here""",
        """setp.lt.u32 %p1, %r1, 64;
  st.global.u32 [%rd5], %r1; bar.sync 0; @%p1 ret;
  barrier.sync 1, 64; ld.global.u32 %r9, [%rd7];""",
    ),
    "an mbarrier": (
        """setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [object], 32;
  bar.sync 0; setp.lt.u32 %p2, %r1, 32; @!%p2 bra CONSUMER;
  mbarrier.arrive.shared.b64 %rd9, [object]; st.global.u32 [%rd5], %r1; // there
  bra END;
CONSUMER: mbarrier.try_wait.parity.shared.b64 %p3, [object], 0; @!%p3 bra CONSUMER;
  ld.global.u32 %r9, [%rd7]; // here
END:""",
        """setp.eq.u32 %p1, %r1, 0; @%p1 mbarrier.init.shared.b64 [object], 32;
  bar.sync 0; setp.lt.u32 %p2, %r1, 32; @!%p2 bra CONSUMER;
  st.global.u32 [%rd5], %r1; mbarrier.arrive.shared.b64 %rd9, [object];
  bra END;
CONSUMER: mbarrier.try_wait.parity.shared.b64 %p3, [object], 0; @!%p3 bra CONSUMER;
  ld.global.u32 %r9, [%rd7];
END:""",
    ),
    "a flag": (
        """setp.ge.u32 %p1, %r1, 32; @%p1 bra WAIT;
  setp.ne.u32 %p2, %r1, 0; @%p2 bra END;
  st.release.cta.global.u32 [%rd1+4096], 1; st.global.u32 [%rd1], 9; // there
  bra END;
WAIT: ld.acquire.cta.global.u32 %r9, [%rd1+4096]; setp.eq.u32 %p3, %r9, 0; @%p3 bra WAIT;
  ld.global.u32 %r9, [%rd1]; // here
END:""",
        """setp.ge.u32 %p1, %r1, 32; @%p1 bra WAIT;
  setp.ne.u32 %p2, %r1, 0; @%p2 bra END;
  st.global.u32 [%rd1], 9; st.release.cta.global.u32 [%rd1+4096], 1;
  bra END;
WAIT: ld.acquire.cta.global.u32 %r9, [%rd1+4096]; setp.eq.u32 %p3, %r9, 0; @%p3 bra WAIT;
  ld.global.u32 %r9, [%rd1];
END:""",
    ),
    "a stored matrix": (
        """mov.f32 %f1, 0f3F800000; mul.wide.u32 %rd9, %r5, 512; add.s64 %rd9, %rd1, %rd9;
  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd9], // there
    {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}, 16;
  ld.global.f32 %f2, [%rd7]; // here""",
        """mov.f32 %f1, 0f3F800000; mul.wide.u32 %rd9, %r5, 1024; add.s64 %rd9, %rd1, %rd9;
  wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd9],
    {%f1, %f1, %f1, %f1, %f1, %f1, %f1, %f1}, 16;
  bar.sync 0; ld.global.f32 %f2, [%rd7];""",
    ),
    "one lane under a guard": (
        """st.global.u32 [%rd5], %r1; // there
  setp.eq.u32 %p1, %r1, 77; @%p1 ld.global.u32 %r9, [%rd1+16]; // here""",
        """st.global.u32 [%rd5], %r1;
  setp.eq.u32 %p1, %r1, 4; @%p1 ld.global.u32 %r9, [%rd1+16];""",
    ),
    "two sides of a branch": (
        """setp.lt.u32 %p1, %r1, 64; @%p1 bra LOW;
  ld.global.u32 %r9, [%rd7]; // here
  bra END;
LOW: st.global.u32 [%rd5], %r1; // there
END:""",
        """setp.lt.u32 %p1, %r1, 64; @%p1 bra LOW;
  ld.global.u32 %r9, [%rd5]; bra END;
LOW: st.global.u32 [%rd5], %r1;
END:""",
    ),
    "one after the other's last access": (
        """ld.global.u32 %r9, [%rd5]; bar.sync 0; ld.global.u32 %r10, [%rd5]; // there
  add.u32 %r9, %r9, 1; st.global.u32 [%rd7], %r9; // here""",
        """ld.global.u32 %r9, [%rd5]; bar.sync 0; ld.global.u32 %r10, [%rd7];
  add.u32 %r9, %r9, 1; st.global.u32 [%rd7], %r9;""",
    ),
}
"""Two sides of one access each. On which side the finding is depends on which came first."""
EITHER = {"two sides of a branch", "producers arrive, consumers wait", "an mbarrier", "a flag"}


def run(body: str, order: int | None = None, ctas: int = 2) -> tuple[Report, list[str]]:
    """The report of some CTAs of 128 threads, and the kernel's lines."""
    text = f"{HEAD}{body}\n  ret;\n}}\n"
    x = np.zeros(ctas * 2048, np.uint32)
    return launch(text, "k", ctas, 128, [x, None], order=order), text.splitlines()


@pytest.mark.parametrize("name", PAIRS)
def test_a_race(name: str) -> None:
    report, lines = run(PAIRS[name][0])
    here = [n for n, line in enumerate(lines, 1) if "// here" in line]
    there = [n for n, line in enumerate(lines, 1) if "// there" in line]
    found = [(f.kind, f.line) for f in report.findings]
    assert len(found) == 1
    (finding,) = report.findings
    lines_named = {finding.line}
    if there:
        assert "without a barrier" in finding.message
        lines_named.add(int(finding.message.partition("at line ")[2].partition(",")[0]))
    else:
        assert "at the same time as" in finding.message
    assert lines_named == {*here, *there}
    if name not in EITHER:
        assert found == [("race", here[0])]


@pytest.mark.parametrize("order", [None, 0, 1, 2])
@pytest.mark.parametrize("name", PAIRS)
def test_no_race(name: str, order: int | None) -> None:
    report, _ = run(PAIRS[name][1], order)
    assert report.ok, "\n".join(map(str, report.findings))


@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("name", PAIRS)
def test_a_race_in_any_order(name: str, order: int) -> None:
    report, lines = run(PAIRS[name][0], order)
    marked = {n for n, line in enumerate(lines, 1) if "// here" in line or "// there" in line}
    assert report.findings
    assert {f.kind for f in report.findings} == {"race"}
    assert {f.line for f in report.findings} <= marked


def test_what_a_finding_says() -> None:
    report, lines = run("st.global.u32 [%rd5], %r1;\n ld.global.u32 %r9, [%rd7+4];", ctas=1)
    (finding,) = report.findings
    store = next(n for n, line in enumerate(lines, 1) if "st.global.u32 [%rd5]" in line)
    assert finding.message == (
        f"<ptx>:{store + 1}: thread (1, 0, 0) of CTA (0, 0, 0) reads byte 508 of argument 0, which "
        f"thread (127, 0, 0) of CTA (0, 0, 0) wrote at line {store}, without a barrier between "
        "them (ld.global.u32)"
    )
    assert finding.thread == "thread (1, 0, 0) of CTA (0, 0, 0)"
    assert finding.count == 126  # thread 0 reads what nobody wrote, thread 64 its own
    assert finding.address is not None
    assert finding.address % 256 == 508 % 256


def test_ctas_do_not_race_with_each_other() -> None:
    """That is another question: their order is not looked at."""
    body = "mul.wide.u32 %rd9, %r2, 8192; sub.u64 %rd10, %rd5, %rd9; st.global.u32 [%rd10], %r1;"
    assert run(body, ctas=3)[0].ok


def test_what_nobody_may_write_is_not_remembered() -> None:
    x, y = np.zeros(4096, np.uint32), np.zeros(128, np.uint32)
    x.flags.writeable = False
    text = f"{HEAD}ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd2], 1;\n ret;\n}}\n"
    assert launch(text, "k", 2, 128, [x, y]).ok


@pytest.mark.parametrize("turns", [2, 40])
def test_a_race_after_much_else_is_forgotten_late(
    turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered is bounded; of what it holds nothing is found twice or made up."""
    monkeypatch.setattr(global_memory, "REMEMBERED", 128 * 2 * 30)
    body = f"""
  ld.global.u32 %r9, [%rd7]; // there
  mov.u32 %r10, 0;
L: ld.global.u32 %r11, [%rd5+2048]; st.global.u32 [%rd5+4096], %r11;
  add.u32 %r10, %r10, 1; setp.lt.u32 %p1, %r10, {turns}; @%p1 bra L;
  st.global.u32 [%rd5], %r1; // here
  st.global.u32 [%rd8+4096], 5; // near
"""
    report, lines = run(body)
    near = next(n for n, line in enumerate(lines, 1) if "// near" in line)
    here = next(n for n, line in enumerate(lines, 1) if "// here" in line)
    expected = {near: 256} if turns == 40 else {here: 256, near: 256}
    assert {f.line: f.count for f in report.findings} == expected
