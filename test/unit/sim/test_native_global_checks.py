"""Checks of global memory by machine code, where whole warps touch it: findings are numpy's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tilec.sim.checks import grid_races
from tilec.sim.native.global_checks import Watched
from tilec.sim.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

THREADS, CTAS = 96, 3
WORDS = 4 * THREADS * (CTAS + 1)
HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{
.reg .pred %p<9>; .reg .b32 %r<39>; .reg .b64 %d<9>;
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r5, 0; mov.u32 %r6, %r1;
mad.lo.u32 %r20, %r2, 999, %r1; mov.u32 %r21, 1; mov.u32 %r22, %r2; mov.u32 %r23, 3;
setp.lt.u32 %p1, %r1, 64; setp.ne.u32 %p3, %r2, 1;
again:
"""
TAIL = """
add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r9;
@%p2 bra again;
ret;
}
"""
# The word that a thread touches, of a tile of as many words as a CTA has threads.
OWN, WARPS, LANES, ROWS = "", "xor.b32 %r12, %r12, 32;", "xor.b32 %r12, %r12, 31;", (
    "and.b32 %r13, %r12, 7; shr.u32 %r12, %r12, 3; xor.b32 %r12, %r12, 1; "
    "mad.lo.u32 %r12, %r12, 8, %r13;"
)  # fmt: skip
# A warp's 4 words of each of 8 rows, as fragments of matrices have them; and one word of 4 lanes.
PARTS = (
    "and.b32 %r13, %r12, 3; shr.u32 %r14, %r12, 2; and.b32 %r14, %r14, 7; mad.lo.u32 %r13, %r14, "
    "12, %r13; shr.u32 %r12, %r12, 5; mad.lo.u32 %r12, %r12, 4, %r13;"
)
FOURS = "and.b32 %r12, %r12, -4;"


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether machine code has checked each access that it was asked to."""
    found: list[bool] = []
    access = Watched.access

    def wrapped(self: Watched, *given: object) -> bool:
        found.append(access(self, *given))
        return found[-1]

    monkeypatch.setattr(Watched, "access", wrapped)
    return found


def touch(*, store: bool, cta: str = "%r2", order: str = OWN, count: int = 1, guard: str = "",
          base: str = "%d1", added: int = 0) -> str:  # fmt: skip
    """An access to the tile of a CTA, in some order of the threads."""
    items = "{%r20, %r21, %r22, %r23}" if count == 4 else "%r20"
    vector = ".v4" if count == 4 else ""
    place = f"""
    mov.u32 %r12, %r1; {order} mad.lo.u32 %r12, {cta}, {THREADS}, %r12;
    mul.wide.u32 %d3, %r12, {4 * count}; add.u64 %d3, %d3, {base};
    """
    if store:
        return f"{place} {guard}st.global{vector}.u32 [%d3+{added}], {items};"
    return f"{place} {guard}ld.global{vector}.u32 {items}, [%d3+{added}];"


def run(both, body: str, turns: int = 4):
    arrays = [np.zeros(WORDS, np.uint32), np.arange(WORDS, dtype=np.uint32), np.uint32(turns)]
    return both(HEAD + body + TAIL, "k", CTAS, THREADS, given=arrays)[1]


def test_a_clean_kernel(both, watched) -> None:
    """What every thread has for itself is checked by machine code alone."""
    body = touch(store=False, base="%d2") + touch(store=True) + touch(store=False)
    assert run(both, body).ok
    assert watched
    assert all(watched)


def test_parts_of_segments(both, watched, accesses, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads have parts of segments for themselves, or read them together."""
    monkeypatch.setattr(grid_races, "PUT_OFF", 1000)
    body = touch(store=False, base="%d2", order=FOURS) + touch(store=True, order=PARTS)
    body += touch(store=False, order=PARTS)
    assert run(both, body, turns=40).ok
    assert all(accesses)
    assert len(watched) - sum(watched) <= 2
    assert len(watched) < len(accesses) // 4


RACES = {
    "another CTA reads": touch(store=True)
    + "add.u32 %r11, %r2, 1;"
    + touch(store=False, cta="%r11"),
    "all CTAs write": touch(store=True, cta="0"),
    "another warp reads": touch(store=True) + touch(store=False, order=WARPS, guard="@%p1 "),
    "another lane reads": touch(store=True) + touch(store=False, order=LANES),
    "another lane writes": touch(store=False) + touch(store=True, order=LANES),
    "rows of other lanes": touch(store=True, count=4) + touch(store=False, count=4, order=ROWS),
    "another lane reads parts": touch(store=True, order=PARTS) + touch(store=False),
    "another CTA reads parts": touch(store=True, order=PARTS)
    + "add.u32 %r11, %r2, 1;"
    + touch(store=False, cta="%r11", order=PARTS),
    "all CTAs write parts": touch(store=True, cta="0", order=PARTS),
    "other CTAs write what is read": touch(store=False, order=FOURS)
    + "xor.b32 %r11, %r2, 1;"
    + touch(store=True, cta="%r11", order=PARTS),
    "wide and narrow": touch(store=True, count=4) + touch(store=False),
}


@pytest.mark.parametrize("name", RACES)
def test_races(both, watched, name: str) -> None:
    """They are found though machine code has looked at some of the accesses."""
    report = run(both, RACES[name])
    assert {finding.kind for finding in report.findings} == {"race"}
    assert any(watched)


@pytest.mark.parametrize("name", ["another warp reads", "another lane writes"])
def test_barriers_order(both, watched, name: str) -> None:
    """With barriers between all accesses nothing is found."""
    lines = RACES[name].split(";")
    body = ";".join(f"{line}; bar.sync 0" if ".global" in line else line for line in lines)
    assert run(both, body).ok
    assert any(watched)


def random_body(seed: int) -> str:
    """Accesses by whole warps, of which few race."""
    draw = random.Random(seed)
    lines = []
    strange = draw.random() < 0.7
    own = draw.choice([OWN, PARTS])
    for _ in range(10):
        order, cta, guard, added = own, "%r2", "", 0
        if strange and draw.random() < 0.2:
            order = draw.choice([OWN, WARPS, LANES, ROWS, PARTS])
            guard = draw.choice(["", "@%p1 "])
        if strange and draw.random() < 0.1:
            cta = draw.choice(["0", "%r21"])
        if draw.random() < 0.1:
            guard = draw.choice(["@%p1 ", "@%p3 "])
        if strange and draw.random() < 0.1:
            added = draw.choice([4, 128])
        store = draw.random() < 0.4
        base = "%d1" if store else draw.choice(["%d1", "%d2"])
        count = draw.choice([1, 1, 4])
        if base == "%d2":
            order = draw.choice([own, FOURS])
        lines.append(
            touch(
                store=store, cta=cta, order=order, count=count, guard=guard, base=base, added=added
            )
        )
        if draw.random() < 0.4:
            lines.append("bar.sync 0;")
        lines.append("mov.u32 %r21, 1;")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(n, marks=pytest.mark.slow) for n in range(12, 400))]
)
def test_random_bodies(both, watched, seed: int) -> None:
    run(both, random_body(seed), turns=3)
    assert any(watched)


def test_as_many_reads_are_put_off(both, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of what all CTAs read, which machine code has of each."""
    monkeypatch.setattr(grid_races, "PUT_OFF", 2 * THREADS * CTAS - 1)
    read = touch(store=False, cta="0", base="%d2")
    assert run(both, read, turns=1).race_bytes < run(both, read, turns=2).race_bytes


HEAP = """
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b64 r) malloc (.param .b64 n);
.extern .func free (.param .b64 p);
.visible .entry k()
{
.reg .pred %p<5>; .reg .b32 %r<9>; .reg .b64 %d<5>;
.shared .b64 where;
mov.u32 %r1, %tid.x; mov.u32 %r2, 0; setp.ne.u32 %p1, %r1, 0;
again:
@%p1 bra given;
{ .param .b64 n; st.param.b64 [n], 3000000; .param .b64 r; call (r), malloc, (n);
  ld.param.b64 %d1, [r]; }
st.shared.u64 [where], %d1;
given:
bar.sync 0;
ld.shared.u64 %d1, [where];
mul.wide.u32 %d2, %r1, 4; add.u64 %d2, %d2, %d1;
xor.b32 %r4, %r1, 32; mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d1; mov.u32 %r3, 0;
store:
st.global.u32 [%d2], %r3;
add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 30;
@%p2 bra store;
activemask.b32 %r5; mov.u32 %r3, 0; setp.ne.u32 %p3, %r2, 6;
@%p3 bar.sync 0;
load:
ld.global.u32 %r4, [%d3];
add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 30;
@%p2 bra load;
bar.sync 0;
@%p1 bra freed;
{ .param .b64 p; st.param.b64 [p], %d1; call free, (p); }
freed:
bar.sync 0;
add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, 8;
@%p2 bra again;
ret;
}
"""


def test_a_block_where_another_was(both) -> None:
    """What is known of a block of the heap that was freed does not count for the next one there."""
    _, report, _ = both(HEAP, "k", 1, 64, given=[])
    assert [finding.kind for finding in report.findings] == ["race"]
