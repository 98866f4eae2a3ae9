"""`ldmatrix` by machine code and by numpy: equal registers, counts, stamps and findings."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tilec.sim import residency
from tilec.sim.native import choice, matrix_loads
from tilec.sim.native.library import library

pytestmark = pytest.mark.skipif(library() is None, reason="no machine code for this processor")

THREADS, BYTES = 64, 4096
HEAD = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out, .param .u64 in, .param .u32 n)
{{
.reg .pred %p<9>; .reg .b32 %r<39>; .reg .b64 %d<9>;
.shared .align 16 .b8 words[4096];
ld.param.u64 %d1, [out]; ld.param.u64 %d2, [in]; ld.param.u32 %r9, [n];
mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r4, %r2, {threads}, %r1;
mul.wide.u32 %d3, %r4, 4; add.u64 %d3, %d3, %d1; mov.u32 %r8, words; shl.b32 %r3, %r1, 4;
and.b32 %r10, %r1, 31; mov.u32 %r5, 0; mov.u32 %r6, %r4;
shl.b32 %r7, %r1, 2; add.u32 %r7, %r7, %r8;
mad.lo.u32 %r11, %r1, 40503, %r2; mov.u32 %r12, %r7; mov.u32 %r13, 0;
fill:
mad.lo.u32 %r11, %r11, 1664525, 1013904223; st.shared.u32 [%r12], %r11;
add.u32 %r12, %r12, {step}; add.u32 %r13, %r13, {step}; setp.lt.u32 %p1, %r13, {filled};
@%p1 bra fill;
bar.sync 0;
again:
{body}
add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, %r9;
@%p2 bra again;
st.global.u32 [%d3], %r6;
ret;
}}
"""


@pytest.fixture
def done(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether machine code executed each `ldmatrix` that it was asked to."""
    found: list[bool] = []
    load = matrix_loads.MatrixLoad.load

    def noted(self: matrix_loads.MatrixLoad, offsets: np.ndarray) -> np.ndarray | None:
        result = load(self, offsets)
        found.append(result is not None)
        return result

    monkeypatch.setattr(matrix_loads.MatrixLoad, "load", noted)
    monkeypatch.setattr(choice, "AFTER", 0)
    return found


def text(body: str, threads: int = THREADS, filled: int = BYTES) -> str:
    return HEAD.format(body=body, threads=threads, step=4 * threads, filled=filled)


def given(ctas: int = 3, turns: int = 4) -> list[object]:
    return [np.zeros(ctas * THREADS, np.uint32), np.zeros(4, np.uint32), np.uint32(turns)]


def load(count: int, trans: str, address: str) -> str:
    """An `ldmatrix` whose registers all go into the result."""
    registers = [f"%r{20 + n}" for n in range(count)]
    mixed = "".join(f"mad.lo.u32 %r6, %r6, 31, {one};" for one in registers)
    what = f"ldmatrix.sync.aligned.m8n8.x{count}{trans}.shared.b16"
    return f"{what} {{{', '.join(registers)}}}, [{address}];{mixed}\n"


PLACES = {
    "rows": "add.u32 %r12, %r3, %r8;",
    "strided": "mul.lo.u32 %r12, %r10, 144; and.b32 %r12, %r12, 0xff0; add.u32 %r12, %r12, %r8;",
    "one row": "mov.u32 %r12, %r8;",
    "moving": "mad.lo.u32 %r12, %r5, 512, %r3; and.b32 %r12, %r12, 0xff0; add.u32 %r12, %r12, %r8;",
    "of a CTA": "mad.lo.u32 %r12, %r2, 128, %r3; and.b32 %r12, %r12, 0xff0; "
    "add.u32 %r12, %r12, %r8;",
    "of a warp": "shr.u32 %r12, %r1, 5; shl.b32 %r12, %r12, 8; add.u32 %r12, %r12, %r8;",
}


@pytest.mark.parametrize(
    ("place", "checks"), [*((place, True) for place in PLACES), ("of a CTA", False)]
)
def test_registers_and_counts(both, done: list[bool], place: str, *, checks: bool) -> None:
    # Each form is compiled, which takes longer than all else; the random ones have them all.
    loads = [load(1, "", "%r12"), load(2, ".trans", "%r12"), load(4, "", "%r12")]
    _, report, _ = both(
        text(PLACES[place] + "".join(loads)), "k", 3, THREADS, given=given(), checks=checks
    )
    assert report.ok
    assert sum(done) > len(done) / 2 > 3


def test_waves_of_other_sizes(both, done: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows at the same places in all CTAs, of which the last wave has fewer."""
    monkeypatch.setattr(residency, "WAVE_THREADS", 2 * THREADS)
    body = PLACES["one row"] + load(1, "", "%r12")
    _, report, _ = both(text(body), "k", 3, THREADS, given=given())
    assert report.ok
    assert sum(done) > len(done) / 2 > 3


WRONG = {
    "out-of-bounds": "shl.b32 %r12, %r5, 10; add.u32 %r12, %r12, %r3; add.u32 %r12, %r12, %r8;",
    "misaligned": "setp.eq.u32 %p3, %r5, 3; selp.u32 %r12, 4, 0, %p3; add.u32 %r12, %r12, %r3; "
    "add.u32 %r12, %r12, %r8;",
    "race": "shl.b32 %r13, %r5, 8; add.u32 %r12, %r3, %r8; sub.u32 %r13, %r12, %r13; "
    "max.u32 %r13, %r13, %r8; bar.sync 0; st.shared.u32 [%r13], %r5;",
    "race afterwards": "add.u32 %r12, %r3, %r8;" + load(4, "", "%r12") + "setp.lt.u32 %p3, %r5, 2; "
    "@%p3 bar.sync 0; xor.b32 %r13, %r12, 512; st.shared.u32 [%r13], %r5; bar.sync 0;",
}


@pytest.mark.parametrize("name", WRONG)
def test_findings(both, done: list[bool], name: str) -> None:
    """Rows that are right for some turns, and then wrong."""
    body = WRONG[name] + load(4, "", "%r12")
    _, report, _ = both(text(body), "k", 2, THREADS, given=given(2, 6))
    assert name.partition(" ")[0] in {finding.kind for finding in report.findings}
    assert any(done)
    assert name == "race afterwards" or not all(done)


def test_less_shared_memory_than_a_row(
    both, done: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dynamic shared memory is missing: nothing is read behind what there is, nor its stamps."""
    fill = matrix_loads.MatrixLoad._fill

    def stamped(self: matrix_loads.MatrixLoad, *given: Any) -> list[np.ndarray]:
        kept, stamps = fill(self, *given), np.ones(BYTES, np.uint32)
        self._plan[matrix_loads.PLAN.index("written")] = stamps.ctypes.data
        return [*kept, stamps]

    monkeypatch.setattr(matrix_loads.MatrixLoad, "_fill", stamped)
    body = "add.u32 %r12, %r3, %r8;" + load(4, "", "%r12")
    extern = ".extern .shared .align 16 .b8 words[];"
    given_text = text(body).replace(".shared .align 16 .b8 words[4096];", "")
    given_text = given_text.replace(".visible", f"{extern} .visible")
    _, report, _ = both(given_text, "k", 2, THREADS, given=given(2, 6))
    assert {finding.kind for finding in report.findings} == {"out-of-bounds"}
    assert done
    assert not any(done)


def test_what_was_never_written(both, done: list[bool]) -> None:
    body = "mad.lo.u32 %r12, %r5, 512, %r3; add.u32 %r12, %r12, %r8;" + load(2, ".trans", "%r12")
    _, report, _ = both(text(body, filled=2048), "k", 2, THREADS, given=given(2, 5))
    assert {finding.kind for finding in report.findings} == {"uninitialised"}
    assert any(done)
    assert not all(done)


def random_body(seed: int) -> str:
    """Loads of matrices between stores, other loads and barriers, in every order."""
    draw = random.Random(seed)
    lines = []
    for _ in range(10):
        index = draw.choice(["%r1", "%r1", "%r10", "%r4", "%r5"])
        lines.append(f"mad.lo.u32 %r12, {index}, {draw.choice([16, 16, 32, 80])}, %r5;")
        lines.append(f"and.b32 %r12, %r12, {draw.choice([0xFF0, 0x7F0, 0x1F0])};")
        lines.append("add.u32 %r12, %r12, %r8;")
        what = draw.random()
        if what < 0.5:
            lines.append(load(draw.choice([1, 2, 4]), draw.choice(["", ".trans"]), "%r12"))
        elif what < 0.65:
            lines.append("st.shared.u32 [%r12], %r6;")
        elif what < 0.8:
            lines.append("ld.shared.u32 %r20, [%r12]; xor.b32 %r6, %r6, %r20;")
        else:
            lines.append("bar.sync 0;")
        if draw.random() < 0.4:
            lines.append("bar.sync 0;")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.slow) for n in range(4, 80))]
)
def test_random_loads_and_stores(both, done: list[bool], seed: int) -> None:
    body = random_body(seed)
    both(text(body), "k", 3, THREADS, given=given(3, 3))
    assert done or "ldmatrix" not in body
