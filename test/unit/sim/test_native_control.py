"""Groups of threads scheduled by machine code: bits, steps, counts and findings are numpy's."""

from __future__ import annotations

import random

import numpy as np
import pytest
from tilec.sim import launch
from tilec.sim.native import choice, fused
from tilec.sim.native.control import Came, Control
from tilec.sim.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u32 n)
{
.reg .pred %p<9>; .reg .f32 %f<9>; .reg .b32 %r<39>; .reg .b64 %d<9>;
ld.param.u64 %d1, [out]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x;
mad.lo.u32 %r4, %r2, %r3, %r1; mul.wide.u32 %d2, %r4, 4; add.u64 %d3, %d1, %d2;
mov.u32 %r5, 0; mov.u32 %r6, %r4; mad.lo.u32 %r8, %r4, 0x9E3779B1, 12345; mov.u32 %r7, 0;
"""
TAIL = "st.global.u32 [%d3], %r6;\nret;\n}\n"


@pytest.fixture
def came(monkeypatch: pytest.MonkeyPatch) -> list[Came]:
    """How machine code came back, each time that it has scheduled."""
    found: list[Came] = []
    run = Control.run

    def wrapped(self: Control, *given: object) -> Came | None:
        one = run(self, *given)
        if one is not None:
            found.append(one)
        return one

    monkeypatch.setattr(Control, "run", wrapped)
    monkeypatch.setattr(fused, "ASKED", 200)
    monkeypatch.setattr(fused, "HOT", 1)
    return found


def run(both, body: str, threads: int = 96, ctas: int = 2, turns: int = 6, **options: object):
    out = np.zeros(threads * ctas, np.uint32)
    given = [out, np.uint32(turns)]
    return both(HEAD + body + TAIL, "k", ctas, threads, given=given, **options)[1]


LOOP = "again:\n{body}\nadd.u32 %r5, %r5, 1; setp.lt.u32 %p1, %r5, {limit};\n@%p1 bra again;\n"
PATHS = "".join(
    f"path{i}: setp.ne.u32 %p2, %r10, {i};\n@%p2 bra path{i + 1};\n"
    f"mad.lo.u32 %r6, %r6, {i + 3}, %r5; xor.b32 %r6, %r6, %r4;"
    for i in range(24)
)
BODIES = {
    "uniform": LOOP.format(body="mad.lo.u32 %r6, %r6, 3, %r5;", limit="%r9"),
    "a loop of each thread": "and.b32 %r11, %r1, 31; add.u32 %r11, %r11, 1;"
    + LOOP.format(body="mad.lo.u32 %r6, %r6, 3, %r5; xor.b32 %r6, %r6, %r4;", limit="%r11"),
    "paths": "and.b32 %r10, %r1, 7;" + LOOP.format(body=PATHS + "path24:", limit="%r9"),
    "a loop that some leave": LOOP.format(
        body="mad.lo.u32 %r8, %r8, 1664525, 1013904223; shr.u32 %r12, %r8, 28;\n"
        "setp.eq.u32 %p3, %r12, 3;\n@%p3 bra past;\nadd.u32 %r6, %r6, %r12;\n",
        limit="%r9",
    )
    + "past: add.u32 %r6, %r6, %r5;\n",
    "exits": LOOP.format(
        body="mad.lo.u32 %r8, %r8, 1664525, 1013904223; shr.u32 %r12, %r8, 27;\n"
        "setp.eq.u32 %p3, %r12, 3;\n@%p3 bra stay;\n@!%p3 bra on;\nstay: ret;\n"
        "on: add.u32 %r6, %r6, %r12; xor.b32 %r6, %r6, 1;\n",
        limit="%r9",
    ),
    "barriers": LOOP.format(
        body="and.b32 %r10, %r1, 3; setp.eq.u32 %p3, %r10, 1;\n@%p3 bra odd;\n"
        "add.u32 %r6, %r6, 7; bra.uni met;\nodd: mul.lo.u32 %r6, %r6, 5;\n"
        "met: bar.sync 0;\nadd.u32 %r6, %r6, %r5;\n",
        limit="%r9",
    ),
    "tables": "and.b32 %r10, %r1, 15;"
    + LOOP.format(
        body="".join(
            f"setp.gt.u32 %p3, %r10, {15 - i};\n@%p3 bra leaf{i};\nadd.u32 %r6, %r6, {i};\n"
            for i in range(16)
        )
        + "bra.uni done;\n"
        + "".join(f"leaf{i}: mad.lo.u32 %r6, %r6, {i + 2}, 1;\n" for i in range(16))
        + "done: add.u32 %r6, %r6, 1;\n",
        limit="%r9",
    ),
}


@pytest.mark.parametrize("threads", [96, 100])
@pytest.mark.parametrize("name", BODIES)
def test_flow(both, came, name: str, threads: int) -> None:
    """Loops, branches and barriers, with whole warps and with one that is not."""
    run(both, BODIES[name], threads, turns=40)
    assert came


def test_what_waits_long_goes_first(both, came) -> None:
    """A loop of some threads runs while others wait, for more turns than these have patience."""
    body = """
    and.b32 %r10, %r1, 1; setp.eq.u32 %p3, %r10, 1; mov.u32 %r11, 9;
    @%p3 bra high;
    low: add.u32 %r6, %r6, 3; add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 900;
    @%p4 bra low;
    bra.uni done;
    high: mul.lo.u32 %r6, %r6, 5; add.u32 %r7, %r7, 1; setp.lt.u32 %p4, %r7, 500;
    @%p4 bra high;
    done: add.u32 %r6, %r6, %r11;
    """
    run(both, LOOP.format(body=body, limit="%r9"), turns=3)
    assert came


@pytest.mark.parametrize("limit", [50, 1000, 1001, 1002, 1003, 4000])
@pytest.mark.parametrize("name", ["uniform", "paths"])
def test_the_limit_of_steps(both, came, name: str, limit: int) -> None:
    """A run that is too long ends at the same step, with the same words."""
    report = run(both, BODIES[name], turns=1 << 30, max_steps=limit)
    assert not report.completed
    assert limit < 1000 or came


@pytest.mark.parametrize("limit", [10**30, 1 << 63, float("inf")])
def test_no_limit_of_steps(both, came, limit: float) -> None:
    body = LOOP.format(body="mad.lo.u32 %r6, %r6, 3, %r5;", limit="%r9")
    assert run(both, body, turns=40, max_steps=limit).completed
    assert came


def test_other_orders_are_numpys(both, came) -> None:
    run(both, BODIES["paths"], order=3)
    assert not came


def test_a_register_somebody_keeps(both, came) -> None:
    """Addresses that checks remember are not written over."""
    body = """
    add.u64 %d3, %d3, 128; add.u64 %d3, %d3, -128;
    mad.lo.u32 %r6, %r6, 3, %r5; setp.gt.u32 %p3, %r5, 2;
    @%p3 bra next;
    add.u32 %r6, %r6, 9;
    next: xor.b32 %r6, %r6, %r4; st.global.u32 [%d3], %r6;
    """
    run(both, LOOP.format(body=body, limit="%r9"), turns=30)


def random_body(seed: int) -> str:
    """Nested branches and loops by random numbers of each thread, or of all."""
    draw = random.Random(seed)
    names = iter(range(1000))

    def numbers() -> str:
        return (
            "mad.lo.u32 %r8, %r8, 1664525, 1013904223; shr.u32 %r12, %r8, 24;"
            if draw.random() < 0.7
            else "mad.lo.u32 %r12, %r5, 77, 13; and.b32 %r12, %r12, 255;"
        )

    def some() -> str:
        lines = [
            "mad.lo.u32 %r6, %r6, 3, %r5;", "xor.b32 %r6, %r6, %r8;", "add.u32 %r6, %r6, %r1;",
            "setp.gt.u32 %p5, %r6, %r8; selp.b32 %r6, %r6, %r8, %p5;",
            "@%p5 add.u32 %r6, %r6, 17;", "bar.warp.sync -1;" if draw.random() < 0.1 else "",
        ]  # fmt: skip
        return "\n".join(draw.choice(lines) for _ in range(draw.randint(1, 4)))

    def part(depth: int) -> str:
        kind = draw.random()
        n = next(names)
        if depth == 0 or kind < 0.25:
            return some()
        inner, outer = part(depth - 1), part(depth - 1)
        test = f"setp.lt.u32 %p3, %r12, {draw.choice([2, 64, 128, 250])};"
        if kind < 0.7:
            return (
                f"{numbers()}\n{test}\n@%p3 bra else{n};\n{inner}\nbra.uni end{n};\n"
                f"else{n}:\n{outer}\nend{n}:\n{some()}"
            )
        register = f"%r{20 + depth}"
        return (
            f"mov.u32 {register}, 0;\nloop{n}:\n{inner}\nadd.u32 {register}, {register}, 1;\n"
            f"{numbers()}\n{test}\n@%p3 bra out{n};\n"
            f"setp.lt.u32 %p4, {register}, {draw.randint(1, 5)};\n"
            f"@%p4 bra loop{n};\nout{n}:\n{some()}"
        )

    return "setp.eq.u32 %p5, %r1, 0;\n" + LOOP.format(body=part(3), limit="%r9")


@pytest.mark.parametrize(
    "seed", [*range(10), *(pytest.param(n, marks=pytest.mark.slow) for n in range(10, 600))]
)
def test_random_flow(both, came, seed: int) -> None:
    run(both, random_body(seed), threads=96 - 9 * (seed % 2), ctas=1 + seed % 3, turns=12)


def test_interrupted(monkeypatch: pytest.MonkeyPatch, came) -> None:
    """Python looks up now and then in a loop without end."""
    monkeypatch.setattr(choice, "AFTER", 1)
    monkeypatch.setattr(choice, "WORK", 0)
    monkeypatch.setenv(choice.VARIABLE, "native")

    def note(self: Control, blocks: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(Control, "_note", note)
    given = [np.zeros(96, np.uint32), np.uint32(1 << 31)]
    with pytest.raises(KeyboardInterrupt):
        launch(HEAD + BODIES["uniform"] + TAIL, "k", 1, 96, given)
