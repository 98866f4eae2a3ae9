"""What nothing has written is followed, and found where it does harm.

Each kind has a kernel in which it does, at the line marked `// here`, of what the line marked
`// there` read, and near ones in which it does not.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.sim import Report, launch

HEAD = """.version 8.5
.target sm_90
.address_size 64
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %v; .reg .pred %q;
  ld.param.u32 %v, [value]; add.u32 %v, %v, %v; st.param.u32 [result], %v; ret;
}
.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<60>, %u; .reg .b64 %rd<20>, %ud; .reg .f32 %f<40>;
  .shared .align 16 .b8 words[4096];
  .local .align 16 .b8 stack[64];
  .param .b32 given; .param .b32 got;
  ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y];
  mov.u32 %r1, %tid.x; and.b32 %r6, %r1, 31; mov.u32 %r3, words; shl.b32 %r2, %r1, 2;
  add.u32 %r4, %r3, %r2; cvt.u64.u32 %rd4, %r2; add.s64 %rd4, %rd1, %rd4;
  mov.u64 %rd5, stack; setp.lt.u32 %p1, %r6, 16; mov.u32 %r10, 5;
"""
READ = "ld.shared.u32 %r9, [%r4+2048]; // there\n"
"""What nothing has written, in %r9 of every lane."""
STORE = "st.global.u32 [%rd4], %r11; // here\n"

HARM = {
    "a store": READ + "st.global.u32 [%rd4], %r9; // here",
    "a generic store": READ + "st.u32 [%rd4], %r9; // here",
    "one of four elements": READ
    + "and.b64 %rd6, %rd4, -16; st.global.v4.u32 [%rd6], {%r10, %r9, %r10, %r10}; // here",
    "an atomic": READ + "red.global.add.u32 [%rd1], %r9; // here",
    "a branch": READ + "setp.eq.u32 %p2, %r9, 1;\n @%p2 bra END; // here",
    "an indexed branch": READ
    + "and.b32 %r11, %r9, 1; TS: .branchtargets END, END;\n brx.idx %r11, TS; // here",
    "an address": READ + "and.b32 %r11, %r9, 60; add.u32 %r11, %r11, %r3;"
    "st.shared.u32 [%r4], %r10;\n ld.shared.u32 %r12, [%r11]; // here",
    "a guard of a store": READ
    + "setp.eq.u32 %p2, %r9, 1;\n @%p2 st.global.u32 [%rd4], %r10; // here",
    "a guard of a move": READ
    + "setp.eq.u32 %p2, %r9, 1; mov.u32 %r11, 4; @%p2 mov.u32 %r11, 5;"
    + STORE,
    "a barrier": READ + "and.b32 %r11, %r9, 0x1f; add.u32 %r11, %r11, 128;"
    "and.b32 %r11, %r11, 0xe0; or.b32 %r11, %r11, %r9; sub.u32 %r11, %r11, %r9;"
    "\n bar.sync 1, %r11; // here",
    "a reduction over a barrier": READ
    + "setp.eq.u32 %p2, %r9, 1;\n bar.red.popc.u32 %r11, 0, %p2; // here",
    "an mbarrier": READ + ".shared .align 8 .b64 bar; mov.u32 %r12, bar; shr.u32 %r11, %r9, 1;"
    "or.b32 %r11, %r11, 1;\n mbarrier.init.shared.b64 [%r12], %r11; // here",
    "shared memory": READ + "st.shared.u32 [%r4], %r9; bar.warp.sync -1; xor.b32 %r12, %r4, 4;"
    "ld.shared.u32 %r11, [%r12];" + STORE,
    "local memory": READ + "st.local.u32 [%rd5+8], %r9; ld.local.u32 %r11, [%rd5+8];" + STORE,
    "a generic spill": READ + "cvta.local.u64 %rd6, %rd5; st.u32 [%rd6+8], %r9;"
    "ld.u32 %r11, [%rd6+8];" + STORE,
    "a call": READ + "st.param.u32 [given], %r9; call (got), twice, (given);"
    "ld.param.u32 %r11, [got];" + STORE,
    "arithmetic": READ + "mad.lo.u32 %r11, %r9, 3, %r1; xor.b32 %r11, %r11, 9;" + STORE,
    "floats": READ + "mov.b32 %f1, %r9; fma.rn.f32 %f2, %f1, 0f00000000, 0f3F800000;"
    "\n st.global.f32 [%rd4], %f2; // here",
    "a carry": READ + "add.cc.u32 %r12, %r9, 1; addc.u32 %r11, 0, 0;" + STORE,
    "a shuffle": READ + "selp.u32 %r12, %r10, %r9, %p1;"
    "shfl.sync.bfly.b32 %r11, %r12, 16, 31, -1;" + "@%p1 " + STORE,
    "a shuffle from a lane that has exited": "setp.gt.u32 %p2, %r6, 23; @%p2 ret;\n"
    "shfl.sync.bfly.b32 %r11, %r1, 16, 31, 0xffffff; // there\n" + STORE,
    "a shuffle from a lane that is not named": "@!%p1 bra END;\n"
    "shfl.sync.down.b32 %r11, %r1, 1, 31, 0xffff; // there\n" + STORE,
    "a vote": READ + "setp.eq.u32 %p2, %r9, 1; vote.sync.any.pred %p3, %p2, -1;"
    "selp.u32 %r11, 1, 2, %p3;" + STORE,
    "a ballot": READ + "setp.eq.u32 %p2, %r9, 1; vote.sync.ballot.b32 %r11, %p2, -1;" + STORE,
    "a reduction of a warp": READ + "redux.sync.add.u32 %r11, %r9, -1;" + STORE,
    "a sum in shared memory": "st.shared.u32 [%r4], %r10; bar.sync 0;"
    + READ
    + "atom.shared.add.u32 %r12, [%r3], %r9; bar.sync 0; ld.shared.u32 %r11, [%r3];"
    + STORE,
    "an atomic on what nothing has written": "atom.shared.add.u32 %r11, [%r3], 1; // there\n"
    + STORE,
    "half of a register": READ
    + "mov.b32 {%h1, %h2}, %r9; mov.b16 %h3, 1; mov.b32 %r11, {%h3, %h2};"
    + STORE,
    "halves of a packed sum": READ + "and.b32 %r12, %r9, 0xffff0000; mov.u32 %r13, 0;"
    "add.rn.f16x2 %r12, %r12, %r13; and.b32 %r11, %r12, 0xffff0000;" + STORE,
    "a selection": READ + "selp.u32 %r11, %r9, %r10, %p1;" + STORE,
    "bits that are kept": READ + "and.b32 %r11, %r9, 0xff; or.b32 %r11, %r11, 0xfffffffe;" + STORE,
    "bits that are moved": READ + "prmt.b32 %r11, %r9, %r10, 0x4441;" + STORE,
    "the sign": READ + "and.b32 %r12, %r9, 0x80000000; shr.s32 %r12, %r12, 24;"
    "and.b32 %r11, %r12, 0x80;" + STORE,
    "a table of bits": READ + "lop3.b32 %r11, %r9, %r10, %r1, 0x96;" + STORE,
    "a word of a column of B": """
  ld.shared.u32 %r9, [%r4+2048]; // there
  setp.lt.u32 %p2, %r6, 28; selp.u32 %r20, %r10, %r9, %p2; // column 7
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},
    {%r10, %r10, %r10, %r10}, {%r20, %r10}, {0f00000000, 0f00000000, 0f00000000, 0f00000000};
  and.b32 %r21, %r6, 3; setp.eq.u32 %p3, %r21, 3;
  @%p3 st.global.f32 [%rd4], %f2; // here""",
    "a row of A": """
  ld.shared.u32 %r9, [%r4+2048]; // there
  setp.lt.u32 %p2, %r6, 28; selp.u32 %r20, %r10, %r9, %p2; // row 7
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f1, %f2, %f3, %f4},
    {%r20, %r10, %r10, %r10}, {%r10, %r10}, {0f00000000, 0f00000000, 0f00000000, 0f00000000};
  @!%p2 st.global.f32 [%rd4], %f1; // here""",
    "ldmatrix": """
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r9}, [%r3]; // there
  st.global.u32 [%rd4], %r9; // here""",
    "stmatrix": READ + "and.b32 %r12, %r4, 0xf80; stmatrix.sync.aligned.m8n8.x1.shared.b16"
    " [%r3], {%r9}; bar.warp.sync -1; ld.shared.u32 %r11, [%r3];" + STORE,
    "local memory that nothing has written": "ld.local.u32 %r11, [%rd5+12]; // there\n" + STORE,
    "a register": "mov.u32 %r11, %u; // there\n" + STORE,
    "a register of some lanes": "@%p1 mov.u32 %u, 7;\n mov.u32 %r11, %u; // there\n" + STORE,
    "a register of one path": """
  @!%p1 bra PAST; mov.u32 %u, 7; PAST:
  add.u32 %r11, %u, 1; // there
"""
    + STORE,
    "a masked load": "@%p1 ld.global.u32 %u, [%rd4];\n add.u32 %r11, %u, 1; // there\n" + STORE,
    "a part of a register": "vadd.u32.u32.u32 %r11, %u.b0, %r10; // there\n" + STORE,
    "a register that is negated": "vmad.u32.u32.u32 %r11, -%u, %r10, %r1; // there\n" + STORE,
    "an index that is never set": "TS: .branchtargets END, END;\n brx.idx %u, TS; // there // here",
    "a pair of bits": READ + "redux.sync.xor.b32 %r11, %r9, -1;" + STORE,
    "a predicate of a table of bits": READ + "and.b32 %r9, %r9, 3; setp.gt.u32 %p3, %r1, 999;"
    "lop3.or.b32 %r12|%p2, %r9, 1, 0, 0x3c, %p3; selp.u32 %r11, 1, 2, %p2;" + STORE,
    "what another lane adds at once": READ + "mov.u32 %r12, 0; setp.eq.u32 %p2, %r1, 0;"
    "@%p2 mov.u32 %r12, %r9; st.shared.u32 [%r3], 0; bar.sync 0;"
    "atom.shared.add.u32 %r13, [%r3], %r12; selp.u32 %r11, 0, %r13, %p2;" + STORE,
    "the upper half of a sum in shared memory": "and.b32 %r12, %r4, 0xf8;"
    "add.u32 %r12, %r12, %r3; st.shared.u32 [%r12], 0; bar.sync 0;\n"
    "atom.shared.add.u64 %rd6, [%r12], 1; // there\n"
    "shr.u64 %rd6, %rd6, 32; cvt.u32.u64 %r11, %rd6;" + STORE,
    "what was exchanged": "atom.shared.exch.b32 %r11, [%r4], 7; // there\n" + STORE,
    "an address that is never set": "st.global.u32 [%ud], %r10; // there // here",
    "a predicate that is never set": "@%p8 bra END; // there // here",
}
SAFE = {
    "nobody uses it": READ,
    "arithmetic that nobody uses": READ + "add.u32 %r11, %r9, 1; mul.lo.u32 %r11, %r11, %r9;",
    "lanes that do not store": READ + "selp.u32 %r11, %r10, %r9, %p1; @%p1 " + STORE,
    "a selection of the other": READ + "setp.lt.u32 %p2, %r1, 999;"
    "selp.u32 %r11, %r10, %r9, %p2;" + STORE,
    "a condition that another decides": READ + "setp.eq.u32 %p2, %r9, 1; setp.gt.u32 %p3, %r1, 999;"
    "and.pred %p2, %p2, %p3; @%p2 bra END;",
    "a comparison that another decides": READ + "setp.gt.u32 %p3, %r1, 999;"
    "setp.eq.and.u32 %p2, %r9, 1, %p3; @%p2 bra END;",
    "bits that are cut": READ + "and.b32 %r11, %r9, 0xff; shr.u32 %r11, %r11, 8;" + STORE,
    "bits that are replaced": READ + "bfi.b32 %r11, %r1, %r9, 0, 32;" + STORE,
    "bytes that are not taken": READ + "prmt.b32 %r11, %r9, %r10, 0x7654;" + STORE,
    "the other half": READ + "mov.b32 {%h1, %h2}, %r9; mov.b32 {%h3, %h4}, %r10;"
    "mov.b32 %r11, {%h3, %h4};" + STORE,
    "the other half of a packed sum": READ + "and.b32 %r12, %r9, 0xffff0000; mov.u32 %r13, 0;"
    "add.rn.f16x2 %r12, %r12, %r13; and.b32 %r11, %r12, 0xffff;" + STORE,
    "the other half of a conversion": READ + "mov.b32 %f1, %r9; mov.b32 %f2, %r10;"
    "cvt.rn.f16x2.f32 %r11, %f1, %f2; and.b32 %r11, %r11, 0xffff;" + STORE,
    "low bits of a sum": READ + "shl.b32 %r12, %r9, 8; add.u32 %r12, %r12, %r1;"
    "and.b32 %r11, %r12, 0xff;" + STORE,
    "overwritten": READ + "mov.u32 %r9, 1; mov.u32 %r11, %r9;" + STORE,
    "overwritten in shared memory": READ + "st.shared.u32 [%r4], %r9; st.shared.u32 [%r4], %r10;"
    "ld.shared.u32 %r11, [%r4];" + STORE,
    "overwritten in local memory": READ + "st.local.u32 [%rd5], %r9; st.local.u32 [%rd5], %r10;"
    "ld.local.u32 %r11, [%rd5];" + STORE,
    "a constant over it in shared memory": READ + "st.shared.u32 [%r4], %r9;"
    "st.shared.u32 [%r4], 5; ld.shared.u32 %r11, [%r4];" + STORE,
    "a constant beside it": READ + "mov.b32 {%h1, %h2}, %r9; mov.b16 %h3, 5;"
    "prmt.b32 %r12, %r9, 0x7070707, 0x0147; and.b32 %r11, %r12, 0xff00;" + STORE,
    "beside it in shared memory": READ + "st.shared.u8 [%r4], %r9; st.shared.u8 [%r4+1], %r10;"
    "ld.shared.u8 %r11, [%r4+1];" + STORE,
    "copied over": READ + "st.shared.u32 [%r4], %r9; cp.async.ca.shared.global [%r4], [%rd4], 4;"
    "cp.async.wait_all; ld.shared.u32 %r11, [%r4];" + STORE,
    "a shuffle from an absent lane, not used": "@!%p1 bra END;\n"
    "shfl.sync.down.b32 %r11, %r1, 1, 31, 0xffff; setp.lt.u32 %p2, %r6, 15; @%p2 " + STORE,
    "a shuffle among those who are there": "@!%p1 bra END;\n"
    "shfl.sync.down.b32 %r11|%p2, %r1, 1, 0x100f, 0xffff;" + STORE,
    "another lane of a shuffle": READ + "selp.u32 %r12, %r10, %r9, %p1;"
    "shfl.sync.idx.b32 %r11, %r12, 3, 31, -1;" + STORE,
    "a vote that one lane decides": READ + "setp.eq.u32 %p2, %r9, 1; or.pred %p2, %p2, %p1;"
    "vote.sync.any.pred %p3, %p2, -1; selp.u32 %r11, 1, 2, %p3;" + STORE,
    "the other columns of B": HARM["a word of a column of B"].replace("@%p3", "@!%p3"),
    "the other rows of A": HARM["a row of A"].replace("@!%p2", "@%p2"),
    "a masked load, stored where it was loaded": "@%p1 ld.global.u32 %u, [%rd4];"
    "add.u32 %r11, %u, 1; @%p1 " + STORE,
    "a register of one path, used there": """
  mov.u32 %r11, 3; @!%p1 bra PAST; mov.u32 %u, 7; PAST:
  @!%p1 bra BEYOND; mov.u32 %r11, %u; BEYOND:
""" + STORE,
    "a register that a loop writes first": """
  mov.u32 %r12, 0;
LOOP: setp.eq.u32 %p2, %r12, 0; @%p2 mov.u32 %u, 5; add.u32 %u, %u, 1;
  add.u32 %r12, %r12, 1; setp.lt.u32 %p3, %r12, 4; @%p3 bra LOOP; mov.u32 %r11, %u;
""" + STORE,
    "local memory that has been written": "st.local.v4.u32 [%rd5], {%r1, %r1, %r1, %r1};"
    "ld.local.u32 %r11, [%rd5+12];" + STORE,
    "a part that is written under a guard": "setp.lt.u32 %p2, %r1, 999;"
    "@%p2 vadd.u32.u32.u32 %u.b0, %r10, %r1, %r1; mov.u32 %r11, %u;" + STORE,
    "other bits of a pair": READ + "shl.b32 %r9, %r9, 4; redux.sync.xor.b32 %r11, %r9, -1;"
    "and.b32 %r11, %r11, 15;" + STORE,
    "exchanged": "atom.shared.exch.b32 %r12, [%r4], 7; ld.shared.u32 %r11, [%r4];" + STORE,
    "exchanged for a register": READ + "st.shared.u32 [%r4], %r9;"
    "atom.shared.exch.b32 %r12, [%r4], %r10; ld.shared.u32 %r11, [%r4];" + STORE,
    "a call with what is defined": READ + "st.param.u32 [given], %r10;"
    "call (got), twice, (given); ld.param.u32 %r11, [got];" + STORE,
}  # fmt: skip


def text_of(body: str) -> str:
    return f"{HEAD}{body}\nEND:\n  ret;\n}}\n"


def run(body: str, grid: int = 3, **options: object) -> Report:
    array = np.zeros(256, np.uint32)
    return launch(text_of(body), "k", grid, 64, [array, None], **options)  # type: ignore[arg-type]


def line_with(body: str, mark: str) -> int:
    return next(n for n, line in enumerate(text_of(body).splitlines(), 1) if mark in line)


@pytest.mark.parametrize("order", [None, 3])
@pytest.mark.parametrize("name", HARM)
def test_harm_is_found(name: str, order: int | None) -> None:
    body = HARM[name]
    report = run(body, order=order)
    found = [f for f in report.findings if f.kind == "uninitialised"]
    here, there = line_with(body, "// here"), line_with(body, "// there")
    assert [f.line for f in found] == [here], report.findings
    if "from a lane" in name:
        assert f"what line {there} read from a lane that did not participate" in found[0].message
    elif here != there:
        assert f"what line {there} read, which nothing has written" in found[0].message
    else:
        assert "what nothing has written" in found[0].message


@pytest.mark.parametrize("order", [None, 3])
@pytest.mark.parametrize("name", SAFE)
def test_what_does_no_harm_is_no_finding(name: str, order: int | None) -> None:
    report = run(SAFE[name], order=order)
    assert [f for f in report.findings if f.kind != "race"] == []


def test_what_is_followed_changes_no_result() -> None:
    """The same instructions give the same bits, and are counted alike, once they are followed."""
    body = "mov.u32 %r9, 0; mad.lo.u32 %r11, %r1, 3, %r9; shfl.sync.bfly.b32 %r11, %r11, 1, 31, -1;"
    body += "st.shared.u32 [%r4], %r11; ld.shared.u32 %r12, [%r4]; atom.shared.add.u32 %r13,"
    body += "[%r4], %r12; ld.shared.u32 %r11, [%r4]; add.u32 %r11, %r11, %r13;"
    results = []
    for before in ("ld.shared.u32 %r9, [%r3+512];", "ld.global.u32 %r9, [%rd1];"):
        y = np.zeros(64, np.uint32)
        array = np.zeros(64, np.uint32)
        ptx = text_of(before + body + "cvt.u64.u32 %rd7, %r2; add.u64 %rd7, %rd2, %rd7;"
                      "st.global.u32 [%rd7], %r11;")  # fmt: skip
        report = launch(ptx, "k", 1, 64, [array, y])
        report.require_ok()
        results.append((y.tolist(), report.warp_instructions, report.steps))
    assert results[0] == results[1]


def test_every_wave_begins_anew() -> None:
    body = HARM["a store"]
    report = run(body, grid=400)
    (finding,) = (f for f in report.findings if f.kind == "uninitialised")
    assert finding.count == 400 * 64


WARPGROUP = """.version 8.5
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 y)
{
  .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .f32 %f<4>;
  .shared .align 1024 .b8 words[4096];
  ld.param.u64 %rd1, [y]; mov.u32 %r1, %tid.x; mov.u32 %r2, words;
  mad.lo.u32 %r3, %r1, 32, %r2; mov.u32 %r4, 0; shr.u32 %r5, %r2, 4; cvt.u64.u32 %rd2, %r5;
  st.shared.v4.u32 [%r3], {%r4, %r4, %r4, %r4}; st.shared.v4.u32 [%r3+16], {%r4, %r4, %r4, %r4};
  fence.proxy.async; bar.sync 0; or.b64 %rd2, %rd2, 0x0000000800080000;
  setp.SETS.u32 %p1, %r1, 128; wgmma.fence.sync.aligned;
  wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3},
    %rd2, %rd2, %p1, 1, 1, 0, 0;
  wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;
  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd3, %rd1;
  st.global.f32 [%rd3], %f3;
  ret;
}
"""


@pytest.mark.parametrize(("sets", "kinds"), [("lt", ["uninitialised"]), ("ge", [])])
def test_accumulators_are_read_where_the_predicate_says(sets: str, kinds: list[str]) -> None:
    """PTX ISA, "wgmma.mma_async": D = A*B where scale-d is false, else A*B + D."""
    y = np.zeros(128, np.float32)
    report = launch(WARPGROUP.replace("SETS", sets), "k", 1, 128, [y])
    assert [f.kind for f in report.findings] == kinds, report.findings
