"""`cp.async` by machine code and by numpy: equal memory, counts, findings and advice."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tilec.sim.checks import grid_races
from tilec.sim.native.copies import NativeCopy
from tilec.sim.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

THREADS, CTAS, WORDS = 64, 3, 2048
HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
.reg .pred %p<9>; .reg .b32 %r<29>; .reg .b64 %d<9>;
.shared .align 16 .b8 words[4096];
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r4, %r2, 64, %r1;
mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d1, %d3; mul.wide.u32 %d4, %r4, 16; add.u64 %d4, %d2, %d4;
mov.u32 %r8, words; mov.u32 %r5, 0; mov.u32 %r6, %r4;
and.b32 %r10, %r1, 5; setp.ne.u32 %p1, %r10, 1; setp.lt.u32 %p3, %r1, 32;
again:
"""
TAIL = """
add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r9;
@%p2 bra again;
st.global.u32 [%d3], %r6;
ret;
}
"""


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether machine code has done the second half of each copy of which it did the first."""
    found: list[bool] = []
    put = NativeCopy.put

    def noted(self: NativeCopy) -> bool:
        found.append(put(self))
        return found[-1]

    monkeypatch.setattr(NativeCopy, "put", noted)
    monkeypatch.setattr(grid_races, "PUT_OFF", 2000)
    return found


def copy(size: int = 16, *, stage: str = "0", turned: int = 0, guard: str = "",
         amount: str = "", base: str = "%d4") -> str:  # fmt: skip
    """A copy of each thread to its place in a stage of 1024 bytes, or to that of another."""
    kind = "cg" if size == 16 else "ca"
    return f"""
    xor.b32 %r11, %r1, {turned}; mul.lo.u32 %r11, %r11, {size}; add.u32 %r11, %r11, %r8;
    mad.lo.u32 %r11, {stage}, 1024, %r11;
    {guard}cp.async.{kind}.shared.global [%r11], [{base}], {size}{amount};
    """


def read(stage: str = "0", *, turned: int = 0, bytes_: int = 16) -> str:
    """Each thread reads a word of what it, or another, has copied."""
    return f"""
    xor.b32 %r12, %r1, {turned}; mul.lo.u32 %r12, %r12, {bytes_}; add.u32 %r12, %r12, %r8;
    mad.lo.u32 %r12, {stage}, 1024, %r12; ld.shared.u32 %r13, [%r12]; add.u32 %r6, %r6, %r13;
    """


GROUP, WAIT, MEET = "cp.async.commit_group;", "cp.async.wait_group 0;", "bar.sync 0;"


def run(both, body: str, turns: int = 8, **options: object):
    given = np.random.default_rng(1).integers(0, 1 << 32, WORDS, np.uint32)
    arrays = [np.zeros(WORDS, np.uint32), given, np.uint32(turns)]
    return both(HEAD + body + TAIL, "k", CTAS, THREADS, given=arrays, **options)[1]


@pytest.mark.parametrize("checks", [False, True])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_stages(both, copied, size: int, *, checks: bool) -> None:
    """Two stages in turn, of which one is copied while the other is read."""
    body = f"""
    and.b32 %r20, %r5, 1; xor.b32 %r21, %r20, 1;
    {copy(size, stage="%r20")} {GROUP} cp.async.wait_group 0; {MEET}
    {read("%r20", turned=33, bytes_=size)} {MEET}
    """
    assert run(both, body, turns=30, checks=checks).ok
    assert sum(copied) > 20


AMOUNTS = {"all": "16", "none": "0", "some": "8"}


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts(both, copied, name: str) -> None:
    """Copies that read less than they write, for some threads or in some turns."""
    body = f"""
    mov.u32 %r22, 16; setp.gt.u32 %p4, %r5, 8; @%p4 mov.u32 %r22, {AMOUNTS[name]};
    {copy(amount=", %r22")} {GROUP} {WAIT} {MEET} {read(turned=1)} {MEET}
    """
    assert run(both, body, turns=16).ok
    assert any(copied)


WRONG = {
    "no wait": copy() + GROUP + read() + WAIT + MEET,
    "no barrier": copy() + GROUP + WAIT + read(turned=32) + MEET,
    "overwritten early": copy() + GROUP + WAIT + MEET + read(turned=32),
    "copied twice": copy() + copy(turned=1) + GROUP + WAIT + MEET,
    "source overwritten": copy(base="%d3", size=4) + "st.global.u32 [%d3], %r6;" + GROUP + WAIT,
    "never read": copy(stage="1") + GROUP + WAIT + MEET + read("1", turned=1, bytes_=8) + MEET,
    "misaligned": copy(base="%d3+2", size=4) + GROUP + WAIT + MEET,
    "out of bounds": copy(base="%d4+16384") + GROUP + WAIT + MEET,
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong(both, name: str) -> None:
    """It is found by both, in the same words; some turns are right, so that both have a part."""
    right = copy() + GROUP + WAIT + MEET + read(turned=1) + MEET
    late = f"setp.lt.u32 %p4, %r5, 5;\n@%p4 bra right;\n{WRONG[name]}\nright:\n{right}"
    report = run(both, late, turns=9)
    assert report.findings or report.advice


def random_body(seed: int) -> str:
    """Copies, waits, barriers and reads, of which now and then one is missing, or another's."""
    draw = random.Random(seed)
    odd = draw.random() < 0.5

    def seldom() -> bool:
        return odd and draw.random() < 0.12

    lines = []
    for _ in range(4):
        size, stage = draw.choice([4, 8, 16, 16]), draw.choice(["0", "1", "%r20"])
        for _ in range(draw.randint(1, 2)):
            guard = draw.choice(["", "", "", "@%p1 ", "@%p3 "]) if odd else ""
            amount = draw.choice(["", "", f", {size}", ", %r22"])
            base = "%d3" if seldom() else "%d4"
            turned = draw.choice([0, 0, 1, 33])
            lines.append(copy(size, stage=stage, turned=turned, guard=guard, amount=amount,
                              base=base))  # fmt: skip
            lines.append(GROUP if not seldom() else "")
            if not seldom():
                lines += [draw.choice([WAIT, "cp.async.wait_all;"]), MEET]
        if seldom():
            lines.append("st.global.u32 [%d3], %r6;")
        lines.append(read(stage, turned=draw.choice([0, 1, 32]), bytes_=size))
        lines.append(MEET if not seldom() else "")
    at_times = "mov.u32 %r22, 4; setp.gt.u32 %p5, %r5, 3; @%p5 mov.u32 %r22, 2;"
    return "\n".join(("and.b32 %r20, %r5, 1;", at_times, *lines))


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 300))]
)
def test_random_copies(both, copied, seed: int) -> None:
    report = run(both, random_body(seed), turns=6)
    # Once something undefined is read, numpy follows it.
    assert copied or report.findings
