"""Races for global memory between CTAs: each kind has a kernel that races and one that does not.

The expectation is the PTX ISA's memory consistency model: release and acquire patterns, scopes,
and what barriers of a CTA or a cluster hand on. The first must give races, the first of them at the
line marked `// here`, which names the line marked `// there`; the second nothing, in the usual
order of warps and in a seeded one.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch
from tilec.sim.checks import grid_races

HEAD = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .b16 %h<9>;
  .shared .align 16 .b8 words[8192];
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; // data and a flag
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shl.b32 %r3, %r2, 6; or.b32 %r3, %r3, %r1;
  mul.wide.u32 %rd4, %r1, 4; add.s64 %rd5, %rd1, %rd4; // x[thread]
  xor.b32 %r4, %r1, 63; mul.wide.u32 %rd4, %r4, 4; add.s64 %rd6, %rd1, %rd4; // x[63 - thread]
  mul.wide.u32 %rd4, %r3, 4; add.s64 %rd7, %rd1, %rd4; // x[thread of the grid]
  xor.b32 %r5, %r3, 64; mul.wide.u32 %rd4, %r5, 4; add.s64 %rd8, %rd1, %rd4; // the other CTA's
  setp.ne.u32 %p1, %r2, 0; setp.ne.u32 %p2, %r1, 0;
"""


def handed(store: str, publish: str, see: str, load: str) -> str:
    """CTA 0 stores and sets a flag; CTA 1 waits for it and loads."""
    return f"""@%p1 bra other; {store} {publish} bra done; other: {see} {load} done:"""


STORE = "st.global.u32 [%rd5], %r1;"
LOAD = "ld.global.u32 %r9, [%rd6];"
STORE_THERE, LOAD_HERE = f"\n {STORE} // there\n", f"\n {LOAD} // here\n"
FENCE = "fence.acq_rel.gpu;"
SET = "@!%p2 st.relaxed.gpu.global.u32 [%rd2], 1;"
POLL = "poll: ld.relaxed.gpu.global.u32 %r10, [%rd2]; setp.eq.u32 %p3, %r10, 0; @%p3 bra poll;"
FIRST_POLLS = f"@%p2 bra over; {POLL} over:"

LAST = """
 st.global.u32 [%rd7], %r1; {fence} bar.sync 0; @%p2 bra done;
 atom.{order}global.add.u32 %r10, [%rd2], 1; setp.ne.u32 %p3, %r10, 1; @%p3 bra done; {then}
 ld.global.u32 %r9, [%rd8]; {mark}
 done:"""


def last(fence: str, order: str = "", then: str = "fence.acq_rel.gpu;", mark: str = "") -> str:
    """The CTA that comes last, by a counter, reads what the other has stored."""
    return LAST.format(fence=fence, order=order, then=then, mark=mark)


PAIRS = {
    "store, load": (
        handed(STORE_THERE, "", "", LOAD_HERE),
        "st.global.u32 [%rd7], %r1; bar.sync 0; ld.global.u32 %r9, [%rd7];",
    ),
    "load, store": (
        "ld.global.u32 %r9, [%rd8]; // there\n st.global.u32 [%rd7], %r1; // here",
        "ld.global.u32 %r9, [%rd7]; st.global.u32 [%rd7], %r1;",
    ),
    "what all have read, written by one": (
        """or.pred %p3, %p1, %p2; ld.global.u32 %r9, [%rd1]; // there
  bar.sync 0; @%p3 bra done; st.global.u32 [%rd1], 1; // here
  done:""",
        """or.pred %p3, %p1, %p2; ld.global.u32 %r9, [%rd1];
  bar.sync 0; @%p3 bra done; st.global.u32 [%rd1+512], 1; done:""",
    ),
    "stores of different values": (
        "st.global.u32 [%rd5], %r2; // here",
        "st.global.u32 [%rd7], %r2;",
    ),
    "bytes of a word": (
        """or.pred %p3, %p1, %p2; cvt.u16.u32 %h1, %r1;
  @!%p3 st.global.u8 [%rd1+2], %h1; // there
  @!%p1 bra done; ld.global.u32 %r9, [%rd1]; // here
  done:""",
        """cvt.u64.u32 %rd9, %r3; add.s64 %rd9, %rd1, %rd9; cvt.u16.u32 %h1, %r2;
  st.global.u8 [%rd9], %h1; ld.global.u8 %h2, [%rd9];""",
    ),
    "a barrier of the CTA is not enough": (
        "st.global.u32 [%rd7], %r1; // there\n bar.sync 0; ld.global.u32 %r9, [%rd8]; // here",
        "st.global.u32 [%rd7], %r1; bar.sync 0; ld.global.u32 %r9, [%rd7];",
    ),
    "an atomic and a load": (
        "red.global.add.u32 [%rd5], 1; // there\n ld.global.u32 %r9, [%rd5]; // here",
        "red.global.add.u32 [%rd5], 1; ld.relaxed.gpu.global.u32 %r9, [%rd5];",
    ),
    "atomics of the CTA's scope": (
        "red.relaxed.cta.global.add.u32 [%rd5], 1; // here",
        "red.relaxed.gpu.global.add.u32 [%rd5], 1;",
    ),
    "atomics of the cluster's scope": (
        "red.relaxed.cluster.global.add.u32 [%rd5], 1; // here",
        "red.relaxed.sys.global.add.u32 [%rd5], 1;",
    ),
    "no fence before the flag": (
        handed(STORE_THERE, f"bar.sync 0; {SET}", f"{POLL} {FENCE}", LOAD_HERE),
        handed(STORE, f"bar.sync 0; {FENCE} {SET}", f"{POLL} {FENCE}", LOAD),
    ),
    "no fence after the flag": (
        handed(STORE_THERE, f"bar.sync 0; {FENCE} {SET}", POLL, LOAD_HERE),
        handed(STORE, f"bar.sync 0; membar.gl; {SET}", f"{POLL} membar.gl;", LOAD),
    ),
    "a fence of the CTA": (
        handed(STORE_THERE, f"bar.sync 0; fence.acq_rel.cta; {SET}", f"{POLL} {FENCE}", LOAD_HERE),
        handed(STORE, f"bar.sync 0; fence.sc.sys; {SET}", f"{POLL} fence.acquire.gpu;", LOAD),
    ),
    "a flag that is stored relaxed": (
        handed(STORE_THERE, f"bar.sync 0; {SET}", POLL.replace("relaxed", "acquire"), LOAD_HERE),
        handed(
            STORE,
            "bar.sync 0; " + SET.replace("relaxed", "release"),
            POLL.replace("relaxed", "acquire"),
            LOAD,
        ),
    ),
    "another flag": (
        handed(
            STORE_THERE,
            "bar.sync 0; @!%p2 st.release.gpu.global.u32 [%rd2+4], 1;" + SET,
            POLL.replace("relaxed", "acquire"),
            LOAD_HERE,
        ),
        handed(
            STORE,
            "bar.sync 0; @!%p2 st.release.gpu.global.u32 [%rd2+4], 1;" + SET,
            POLL.replace("relaxed", "acquire")
            + POLL.replace("poll", "again").replace("relaxed", "acquire").replace("rd2", "rd2+4"),
            LOAD,
        ),
    ),
    "no barrier before one thread sets the flag": (
        handed(STORE_THERE, f"{FENCE.replace('gpu', 'cta')} @!%p2 {FENCE} {SET}",
               f"{POLL} {FENCE}", LOAD_HERE).replace(FENCE.replace("gpu", "cta"), ""),
        handed(STORE, f"bar.sync 0; @!%p2 {FENCE} {SET}", f"{POLL} {FENCE}", LOAD),
    ),
    "no barrier after one thread has seen it": (
        handed(STORE_THERE, f"bar.sync 0; {FENCE} {SET}",
               f"@%p2 bra over; {POLL} {FENCE} over: bar.warp.sync -1;", LOAD_HERE),
        handed(STORE, f"bar.sync 0; {FENCE} {SET}", f"{FIRST_POLLS} {FENCE} bar.sync 0;", LOAD),
    ),
    "fenced by each thread, then a barrier, then the flag": (
        handed(STORE_THERE, f"{FENCE} {STORE_THERE} bar.sync 0; {SET}", f"{POLL} {FENCE}",
               LOAD_HERE).replace(" // there", "", 1),
        handed(STORE, f"{FENCE} bar.sync 0; {SET}", f"{POLL} {FENCE}", LOAD),
    ),
    "volatile flags": (
        handed(STORE_THERE, "bar.sync 0; @!%p2 st.volatile.global.u32 [%rd2], 1;",
               POLL.replace("relaxed.gpu", "volatile") + FENCE, LOAD_HERE),
        handed(STORE, f"bar.sync 0; {FENCE} @!%p2 st.volatile.global.u32 [%rd2], 1;",
               POLL.replace("relaxed.gpu", "volatile") + FENCE, LOAD),
    ),
    "handed on by a CTA that has seen it": (
        handed(STORE_THERE, f"bar.sync 0; {SET}",
               f"{POLL} {FENCE} bar.sync 0; @!%p2 red.release.gpu.global.add.u32 [%rd2+8], 1;",
               LOAD_HERE),
        handed(STORE, f"bar.sync 0; {FENCE} {SET}",
               f"{POLL} {FENCE} bar.sync 0; @!%p2 red.release.gpu.global.add.u32 [%rd2+8], 1;",
               LOAD),
    ),
    "the last CTA, without a fence": (
        last("").replace("st.global.u32 [%rd7], %r1;", "st.global.u32 [%rd7], %r1; // there\n")
        .replace("ld.global.u32 %r9, [%rd8];", "ld.global.u32 %r9, [%rd8]; // here\n"),
        last("membar.gl;"),
    ),
    "the last CTA, by the order of its atomic": (
        last("", "relaxed.gpu.").replace("%r1;", "%r1; // there\n", 1)
        .replace("[%rd8];", "[%rd8]; // here\n"),
        last("", "acq_rel.gpu.", ""),
    ),
}  # fmt: skip


def run(body: str, *, seed: int | None, grid: int = 2, cluster: int = 1) -> Report:
    data, flag = np.zeros(1 << 14, np.uint32), np.zeros(64, np.uint32)
    text = f"{HEAD}  {body}\n ret; }}\n"
    return launch(text, "k", grid, 64, [data, flag], order=seed, cluster=cluster, max_steps=20_000)


@pytest.mark.parametrize("name", PAIRS)
def test_kinds(name: str) -> None:
    wrong, right = PAIRS[name]
    # In a seeded order who polls would do so a thousand times.
    for seed in (None,) if "poll:" in right else (None, 3):
        found = run(right, seed=seed)
        assert found.ok, [str(one) for one in found.findings]
        assert not found.advice
        report = run(wrong, seed=seed)
        assert {one.kind for one in report.findings} == {"race"}, name
        if seed is None:
            lines = f"{HEAD}  {wrong}\n".splitlines()
            (here,) = [n for n, line in enumerate(lines, 1) if "// here" in line]
            there = [n for n, line in enumerate(lines, 1) if "// there" in line] or [here]
            assert report.findings[0].line == here
            assert f"at line {there[0]}; nothing orders the two CTAs" in str(report.findings[0])


def test_values_that_several_ctas_store_are_advice() -> None:
    report = run("st.global.u32 [%rd5], 7; bar.sync 0; ld.global.u32 %r9, [%rd5];", seed=None)
    assert report.ok
    assert {one.kind for one in report.advice} == {"same-value"}
    assert "of CTA (1, 0, 0) writes there at line 15" in report.advice[0].message


def test_ctas_of_different_waves() -> None:
    """CTAs of 64 threads come in waves of 128: that the first are over by then is no order."""
    write = "setp.ne.u32 %p3, %r2, 200; @%p3 bra done; st.global.u32 [%rd7], %r2; // here\ndone:"
    for read in ("ld.global.u32 %r9, [%rd1+51200]; // there\n", "st.global.u32 [%rd1+51200], 9;\n"):
        report = run(f"or.pred %p4, %p1, %p2; @!%p4 {read} {write}", seed=None, grid=256)
        (race,) = report.findings
        assert race.kind == "race"
        assert "of CTA (200, 0, 0)" in race.message
        assert "warp 0 of CTA (0, 0, 0)" in race.message
    assert run("st.global.u32 [%rd7], %r1; ld.global.u32 %r9, [%rd7];", seed=None, grid=256).ok


def test_what_was_published_in_another_wave() -> None:
    """The last of 256 CTAs, which is told by a counter, reads what all have stored."""
    text = """st.global.u32 [%rd7], %r1; {fence} bar.sync 0; @%p2 bra done;
 atom.global.inc.u32 %r10, [%rd2], 300; setp.ne.u32 %p3, %r10, 255; @%p3 bra done; membar.gl;
 mov.u32 %r11, 0; again: mul.wide.u32 %rd9, %r11, 4; add.s64 %rd9, %rd1, %rd9;
 ld.global.u32 %r9, [%rd9]; add.u32 %r11, %r11, 64; setp.lt.u32 %p4, %r11, 16384; @%p4 bra again;
 done:"""
    assert run(text.format(fence="membar.gl;"), seed=None, grid=256).ok
    assert not run(text.format(fence="membar.cta;"), seed=None, grid=256).ok


def test_barriers_of_a_cluster() -> None:
    for arrive, right in (("", True), (".relaxed", False)):
        body = f"""st.global.u32 [%rd7], %r1; barrier.cluster.arrive{arrive}.aligned;
 barrier.cluster.wait.aligned; ld.global.u32 %r9, [%rd8];"""
        assert run(body, seed=None, cluster=2).ok == right


def test_atomics_of_a_cluster() -> None:
    add = "red.relaxed.cluster.global.add.u32 [%rd5], 1;"
    assert run(add, seed=None, cluster=2).ok
    assert not run(add, seed=None, grid=4, cluster=2).ok


def test_memory_of_the_check_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grid_races, "EPOCHS_BYTES", 1 << 12)
    report = run("st.global.u32 [%rd7], %r1; bar.sync 0; ld.global.u32 %r9, [%rd8];", seed=None)
    assert not report.findings
    assert report.unchecked == ["races between CTAs in argument 0"]
    assert not report.ok
    assert "incomplete: races between CTAs in argument 0 were not looked for" in report.to_text()


def test_smaller_accesses_to_what_is_split() -> None:
    """Words of two CTAs that meet, then their bytes."""
    body = """or.pred %p3, %p1, %p2;
 @!%p3 st.global.u32 [%rd1], 5; @%p3 st.global.u32 [%rd7+512], 6;
 cvt.u64.u32 %rd9, %r2; add.s64 %rd9, %rd1, %rd9; cvt.u16.u32 %h1, %r2; add.u16 %h1, %h1, 7;
 @%p2 bra done; st.global.u8 [%rd9+OFFSET], %h1; done:"""
    assert run(body.replace("OFFSET", "8"), seed=None).ok
    report = run(body.replace("OFFSET", "2"), seed=None)
    (race,) = report.findings
    assert "thread (0, 0, 0) of CTA (1, 0, 0) writes byte 3 of argument 0" in race.message
    assert "warp 0 of CTA (0, 0, 0) wrote at line 16" in race.message


def test_what_the_heap_gives_to_another() -> None:
    """A block that one CTA frees and another is given is not a race: the allocator orders it."""
    text = HEAD.replace(
        ".visible .entry",
        ".extern .func (.param .b64 r) malloc (.param .b64 n);\n"
        ".extern .func free (.param .b64 p);\n.visible .entry",
    )
    body = """@%p2 bra done;
 { .param .b64 n; st.param.b64 [n], 4194304; .param .b64 r; call (r), malloc, (n);
   ld.param.b64 %rd9, [r]; }
 setp.eq.u64 %p4, %rd9, 0; @%p4 bra done;
 st.global.u32 [%rd9], %r2;
 { .param .b64 p; st.param.b64 [p], %rd9; call free, (p); }
 done:"""
    data, flag = np.zeros(1 << 12, np.uint32), np.zeros(64, np.uint32)
    report = launch(f"{text} {body}\n ret; }}\n", "k", 300, 64, [data, flag])
    assert report.ok, str(report.findings[:1])


def test_reads_before_any_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reads of what is not written are put off, and kept when those are many."""
    body = "ld.global.u32 %r9, [%rd8]; bar.sync 0; ld.global.u32 %r9, [%rd2]; bar.sync 0;"
    for limit in (100, 1 << 20):
        monkeypatch.setattr(grid_races, "PUT_OFF", limit)
        assert run(body, seed=None).ok
        assert not run(f"{body} st.global.u32 [%rd7], %r3;", seed=None).ok


@pytest.mark.parametrize("back", [1, 8, 33])
def test_the_same_values_of_whole_and_split_segments_are_advice(back: int) -> None:
    """CTA 1 begins some elements before the end of CTA 0, in the middle of a segment."""
    body = f"sub.u32 %r6, %r3, {back}; @!%p1 mov.u32 %r6, %r3; mul.wide.u32 %rd9, %r6, 4;"
    body += " add.s64 %rd9, %rd1, %rd9; VALUE st.global.u32 [%rd9], %r6;"
    report = run(body.replace("VALUE", ""), seed=None)
    assert report.ok
    assert {one.kind for one in report.advice} == {"same-value"}
    report = run(body.replace("VALUE", "add.u32 %r6, %r6, %r2;"), seed=None)
    assert {one.kind for one in report.findings} == {"race"}
