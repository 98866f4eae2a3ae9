"""Whole blocks of loads, stores and barriers in machine code: all that is found is numpy's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tilec.sim import launch, read
from tilec.sim.checks import global_memory
from tilec.sim.native import choice, control, driver, pending
from tilec.sim.native.control import Control
from tilec.sim.native.control_parts import Ready
from tilec.sim.native.library import library
from tilec.sim.native.parts import StepPart

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
.reg .pred %p<9>; .reg .b32 %r<49>; .reg .b64 %d<29>;
.shared .align 16 .b8 words[8192];
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %d3, %r4, 16; add.u64 %d4, %d1, %d3;
mul.wide.u32 %d3, %r4, 4; add.u64 %d5, %d2, %d3; and.b64 %d6, %d5, -16; add.u64 %d7, %d1, %d3;
shl.b32 %r7, %r1, 4; mov.u32 %r8, words; add.u32 %r7, %r7, %r8;
mov.u32 %r5, 0; mov.u32 %r6, %r4; mad.lo.u32 %r10, %r4, 0x9E3779B1, 12345; mov.u32 %r20, 0;
mov.u32 %r21, 1; mov.u32 %r22, 2; mov.u32 %r23, 3; mov.u64 %d20, 4; mov.u64 %d21, 5;
and.b32 %r12, %r1, 31; setp.lt.u32 %p1, %r12, 20; setp.lt.u32 %p2, %r1, 64;
st.shared.v4.u32 [%r7], {%r20, %r21, %r22, %r23}; st.global.v4.u32 [%d4], {%r4, %r4, %r4, %r4};
again:
"""
TAIL = """
add.u32 %r5, %r5, 1; setp.lt.u32 %p3, %r5, %r9;
@%p3 bra again;
st.global.u32 [%d4], %r6;
ret;
}
"""
MOVES = (
    "ld.shared.u32 %r20, [%r7];", "ld.shared.v2.u32 {%r20, %r21}, [%r7+8];",
    "ld.shared.v4.u32 {%r20, %r21, %r22, %r23}, [%r7];", "ld.shared.u64 %d20, [%r7];",
    "st.shared.u32 [%r7+4], %r6;", "st.shared.v2.u32 [%r7], {%r6, %r5};",
    "st.shared.v4.u32 [%r7], {%r6, %r21, %r22, %r5};", "st.shared.v2.u64 [%r7], {%d20, %d21};",
    "ld.global.u32 %r20, [%d5];", "ld.global.v4.u32 {%r20, %r21, _, %r23}, [%d6];",
    "ld.global.u32 %r20, [%d2+8];", "ld.global.nc.v2.u32 {%r22, %r23}, [%d6];",
    "ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d4];", "ld.global.u64 %d20, [%d4+8];",
    "st.global.u32 [%d4], %r6;", "st.global.v4.u32 [%d4], {%r6, %r20, %r22, %r5};",
    "st.global.v2.u64 [%d4], {%d20, %d21};", "ld.u32 %r20, [%d5];",
)  # fmt: skip
"""What is right: every thread has 16 bytes of shared and of global memory to itself."""
FAULTS = (
    "st.shared.u32 [%r8], %r6;", "ld.shared.u32 %r20, [%r8+16];", "st.shared.u32 [%r7+2], %r6;",
    "ld.shared.u32 %r20, [%r7+8000];", "ld.shared.u32 %r20, [%r7+4096];",
    "st.global.u32 [%d1], %r6;", "st.global.u32 [%d1+16], 7;", "ld.global.u32 %r20, [%d4+16];",
    "ld.global.u32 %r20, [%d7];", "st.global.u32 [%d7], %r6;", "ld.global.u32 %r20, [%d5+2];",
    "ld.global.u32 %r20, [%d5+40000];", "st.global.u32 [%d4+200000], %r6;",
    "st.global.v2.u32 [%d4+8], {%r5, %r5};",
)  # fmt: skip
"""What is wrong, or may be: races, overlaps, bytes outside, odd addresses, uninitialised bytes."""
NUMBERS = "mad.lo.u32 %r10, %r10, 1664525, 1013904223; shr.u32 %r11, %r10, 24;"
SOME = "add.u32 %r6, %r6, %r20;", "xor.b32 %r6, %r6, %r22;", "add.u32 %r21, %r21, %r5;"


OTHERS = (
    "shfl.sync.bfly.b32 %r21, %r20, 3, 31, -1;", "shfl.sync.up.b32 %r22|%p5, %r6, 1, 0, -1;",
    "vote.sync.ballot.b32 %r21, %p1, -1;", "bar.warp.sync -1;", "activemask.b32 %r22;",
    "atom.shared.add.u32 %r21, [%r7], 3;", "@%p1 atom.shared.max.u32 %r22, [%r7], %r6;",
    "ld.param.u32 %r21, [n];", "mov.u32 %r22, %clock;", "membar.cta;",
    "@%p2 shfl.sync.idx.b32 %r21, %r6, 0, 31, 7;", "red.global.add.u32 [%d7], 1;",
)  # fmt: skip
"""What Python executes while machine code waits; numpy follows the undefined values of `idx`."""


def random_body(seed: int, others: Sequence[str] = ()) -> str:
    """Loads and stores, barriers, and branches by numbers of each thread."""
    draw = random.Random(seed)
    lines = []
    wrong = draw.choice([0, 0, 0.05, 0.15])
    for number in range(14):
        faulty = draw.random() < wrong
        guard = draw.choice(["", "", "", "@%p1 ", "@!%p1 ", "@%p2 "])
        lines.append(guard + draw.choice(FAULTS if faulty else MOVES))
        lines.append(draw.choice(SOME))
        if others and draw.random() < 0.2:
            lines += [draw.choice(others), draw.choice(SOME)]
        kind = draw.random()
        if kind < 0.25:
            lines.append("bar.sync 0;")
        elif kind < 0.3:
            lines.append("bar.warp.sync -1;")
        elif kind < 0.45:
            test = f"setp.lt.u32 %p4, %r11, {draw.choice([2, 64, 250])};"
            lines.append(f"{NUMBERS} {test}\n@%p4 bra past{number};")
            lines += [draw.choice(MOVES), draw.choice(SOME), f"past{number}:", draw.choice(SOME)]
    return "\n".join(lines)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many loads and stores machine code executed without Python, each time that it says so."""
    found: list[int] = []
    note = Ready.note

    def counted(self: Ready, *args: object) -> None:
        found.append(self.done)
        note(self, *args)

    monkeypatch.setattr(Ready, "note", counted)
    return found


def run(both, body: str, threads: int, ctas: int, turns: int = 6, **options: object):
    words = np.arange(threads * ctas, dtype=np.uint32)
    given = [np.zeros(4 * threads * ctas, np.uint32), words, np.uint32(turns)]
    return both(HEAD + body + TAIL, "k", ctas, threads, given=given, **options)[1]


SEEDS = [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 500))]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_blocks(both, alone, seed: int) -> None:
    threads, ctas = (96, 100, 64)[seed % 3], 1 + seed % 4
    body = random_body(seed)
    run(both, body, threads, ctas, checks=seed % 7 != 3)
    # Values that are followed, and blocks with other instructions, are numpy's.
    assert sum(alone) or "bar.warp" in body or any(fault in body for fault in FAULTS)


@pytest.fixture
def aside(monkeypatch: pytest.MonkeyPatch) -> list[StepPart]:
    """What Python has executed while machine code waited."""
    found: list[StepPart] = []
    execute = Control._execute

    def noted(self: Control, blocks: Any, number: int, ready: Ready) -> None:
        if isinstance(ready.part, StepPart):
            found.append(ready.part)
        execute(self, blocks, number, ready)

    monkeypatch.setattr(Control, "_execute", noted)
    return found


@pytest.mark.parametrize("other", [one for one in OTHERS if "idx" not in one])
def test_what_python_executes(both, alone, aside, other: str) -> None:
    """One instruction that machine code does not know does not keep it from all others."""
    run(both, f"{''.join(MOVES[:6])} {other} {SOME[0]} {''.join(SOME)}", 96, 2, turns=12)
    assert len(aside) > 4
    assert sum(alone) > 30


def test_an_error_in_what_python_executes(both, aside) -> None:
    """The place is the same, and what was executed until then."""
    body = f"{''.join(MOVES[:6])} setp.eq.u32 %p4, %r5, 9; @%p4 trap; {''.join(SOME)}"
    report = run(both, body, 96, 2, turns=12)
    assert report.findings


@pytest.mark.parametrize(
    "seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 500))]
)
def test_random_blocks_with_others(both, aside, seed: int) -> None:
    threads, ctas = (96, 100, 64)[seed % 3], 1 + seed % 4
    run(both, random_body(seed, OTHERS), threads, ctas, checks=seed % 7 != 3)
    assert aside or seed > 2


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("ctas", [1, pytest.param(3, marks=pytest.mark.slow)])
def test_faults(both, alone, fault: str, ctas: int) -> None:
    """Something is wrong after some turns that were right."""
    body = (
        "".join(MOVES[4:16:5]) + "setp.lt.u32 %p5, %r5, 4;\n@%p5 bra good;\n" + fault + "\ngood:\n"
        "ld.shared.u32 %r20, [%r7]; add.u32 %r6, %r6, %r20; setp.eq.u32 %p6, %r5, 5;\n"
        "@%p6 bar.sync 0;"
    )
    run(both, body, 96, ctas)
    assert sum(alone) > 4


def test_barriers_and_races_between_them(both, alone) -> None:
    """What a barrier orders is no race, and what it does not order is one, in the same loop."""
    body = """
    bar.sync 0; st.global.u32 [%d7], %r6; bar.sync 0; ld.global.u32 %r20, [%d7];
    setp.ne.u32 %p5, %r5, 5; xor.b32 %r13, %r1, 1; mul.wide.u32 %d8, %r13, 4;
    add.u64 %d8, %d8, %d1; selp.b64 %d8, %d7, %d8, %p5; ld.global.u32 %r21, [%d8];
    st.global.u32 [%d8], %r5;
    """
    report = run(both, body, 64, 1, turns=8)
    assert {finding.kind for finding in report.findings} == {"race"}
    assert sum(alone) > 10


def test_what_is_remembered_is_bounded(both, alone, monkeypatch: pytest.MonkeyPatch) -> None:
    """The older half is forgotten when numpy forgets it, and records take several pieces."""
    monkeypatch.setattr(global_memory, "REMEMBERED", 96 * 40)
    monkeypatch.setattr(pending, "REMEMBERED", 96 * 40)
    monkeypatch.setattr(pending, "_PIECE", 3000)
    monkeypatch.setattr(pending, "_spare", [])
    body = "st.global.u32 [%d4], %r6; ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%d4];"
    body += "setp.ne.u32 %p5, %r5, 30; @!%p5 st.global.u32 [%d1], %r6;"
    report = run(both, body, 96, 1, turns=40)
    assert report.unchecked
    assert report.findings
    assert sum(alone) > 40


def test_records_that_become_what_numpy_remembers(
    both, alone, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A log that is full amid a block, after barriers that machine code has counted."""
    for module in (global_memory, pending):
        monkeypatch.setattr(module, "REMEMBERED", 300)
    run(both, random_body(12), 96, 1)
    assert sum(alone)


def test_a_loop_of_many_warps(both, alone, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python looks up more often the more warps there are."""
    monkeypatch.setattr(control, "WARPS", 40)
    run(both, "".join(MOVES[:6]), 128, 5, turns=30)
    assert len(alone) > 20


@pytest.mark.parametrize(
    ("field", "wrong"),
    [("REFERENCES", driver.REFERENCES + 8), ("BASE", driver.DATA), ("FLAGS", driver.FLAGS + 4)],
)
def test_other_layouts_of_arrays_are_refused(
    monkeypatch: pytest.MonkeyPatch, field: str, wrong: int
) -> None:
    """Where a field of an array lies elsewhere, there is no library instead of a crash."""
    monkeypatch.setattr(driver, field, wrong)
    assert library.__wrapped__() is None


def test_later_launches_stay_in_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block that begins with what numpy has to execute the first time does not begin anew."""
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)
    monkeypatch.setenv(choice.VARIABLE, "native")
    begun: list[int] = []
    run = Control.run

    def noted(self: Control, *given: Any) -> control.Came | None:
        came = run(self, *given)
        begun[-1] += came is not None
        return came

    monkeypatch.setattr(Control, "run", noted)
    body = "st.shared.u32 [%r7], %r6; ld.shared.u32 %r20, [%r7]; add.u32 %r6, %r20, 5;" * 4
    module = read(HEAD + body + TAIL)
    for _ in range(4):
        begun.append(0)
        given = [np.zeros(4 * 3 * 64, np.uint32), np.zeros(3 * 64, np.uint32), np.uint32(400)]
        assert launch(module, "k", 3, 64, given).ok
    assert 1 <= begun[-1] <= 3
