"""Launches run in parts against the same in one piece: memory, findings and counts are equal."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tilec.sim import Report, TensorMap, launch, read
from tilec.sim.parts import Assembly, part_of, split, why_whole
from tilec.sim.run import Run
from tilec.sim.touched import spans

HEAD = """.version 8.6
.target sm_90a
.address_size 64
.extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);
.global .u32 ticket;
.global .align 1 .b8 text[10] = {67, 84, 65, 32, 37, 100, 10, 0};
.shared .align 1024 .b8 tile[2048];
.visible .entry k(.param .align 64 .b8 m[128], .param .u64 x, .param .u64 y, .param .u32 n)
{
 .reg .pred %p<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<9>;
 .local .align 8 .b8 words[16];
 mov.b64 %rd1, m; cvta.param.u64 %rd1, %rd1;
 ld.param.u64 %rd2, [x]; ld.param.u64 %rd3, [y]; ld.param.u32 %r9, [n];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r2, %r9;
 mad.lo.u32 %r3, %r2, 64, %r1; mul.wide.u32 %rd4, %r3, 4;
 add.s64 %rd5, %rd2, %rd4; add.s64 %rd6, %rd3, %rd4; mov.u32 %r4, tile; shl.b32 %r5, %r2, 3;
"""
DOUBLE = "ld.global.f32 %f1, [%rd5]; add.f32 %f1, %f1, %f1; st.global.f32 [%rd6], %f1;"
BOX = """shl.b32 %r6, %r1, 2; add.u32 %r6, %r6, %r4; st.shared.u32 [%r6], %r3;
 st.shared.u32 [%r6+256], %r3; fence.proxy.async.shared::cta; bar.sync 0;
 @%p1 cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%rd1, {0, ROW}], [%r4];
 @%p1 cp.async.bulk.commit_group; @%p1 cp.async.bulk.wait_group 0;"""
PRINT = """@!%p1 bra done;
 mov.b64 %rd7, words; cvta.local.u64 %rd8, %rd7; st.local.u32 [words], %r2;
 mov.b64 %rd9, text; cvta.global.u64 %rd9, %rd9; { .param .b64 f; .param .b64 a; .param .b32 r;
 st.param.b64 [f], %rd9; st.param.b64 [a], %rd8; call (r), vprintf, (f, a); }"""
APART = {
    "memory": DOUBLE,
    "some read what nobody writes": f"{DOUBLE} ld.global.f32 %f2, [%rd2]; add.f32 %f1, %f1, %f2;",
    "boxes": BOX.replace("ROW", "%r5"),
    "what is printed": PRINT,
    "an atomic of its own": "red.global.add.u32 [%rd6], %r1; ld.global.u32 %r7, [%rd6];",
    "outside of memory": f"{DOUBLE} @%p2 st.global.f32 [%rd6+65536], %f1;",
    "undefined": f"ld.shared.u32 %r7, [%r4]; st.global.u32 [%rd6], %r7; {DOUBLE}",
    "races within CTAs": "st.shared.u32 [%r4], %r1; ld.shared.u32 %r7, [%r4]; " + DOUBLE,
    "a trap in the middle": f"@%p2 trap; {DOUBLE}",
    "no end": f"{DOUBLE} again: @%p2 bra again;",
}
TOGETHER = {
    "a word that all write": ("st.global.u32 [%rd3], %r2;", "write byte 0 of argument 2, which"),
    "a word that all add to": ("red.global.add.u32 [%rd3], 1;", "byte 0 of argument 2"),
    "a ticket of the module": (
        "atom.global.add.u32 %r7, [ticket], 1;",
        "byte 0 of variable 'ticket', which",
    ),
    "what another writes is read": (
        f"{DOUBLE} ld.global.u32 %r7, [%rd3];",
        "CTAs 3 to 5 read byte 0 of argument 2, which CTAs 0 to 2 write",
    ),
    "what others read is written": (
        "ld.global.u32 %r7, [%rd3]; @%p2 st.global.u32 [%rd3], %r7;",
        "write byte 0 of argument 2, which",
    ),
    "boxes that overlap": (BOX.replace("ROW", "%r2"), "of argument 0"),
}


class Problem:
    """Arguments of the kernel, anew for each run."""

    def __init__(self, body: str, n: int) -> None:
        self.text = f"{HEAD} {body}\n done: ret; }}\n"
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((64, 16)).astype(np.float32)
        self.y = np.zeros((64, 16), np.float32)
        self.boxed = np.zeros((128, 16), np.uint32)
        self.args = [TensorMap(self.boxed, box=(8, 16)), self.x, self.y, np.uint32(n)]

    def begin(self, **more: Any) -> Run:
        return Run(read(self.text), "k", 16, 64, self.args, max_steps=2000, **more)

    @property
    def bytes(self) -> bytes:
        return self.x.tobytes() + self.y.tobytes() + self.boxed.tobytes()


def said(report: Report) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(report.to_json())
    return found


def in_parts(problem: Problem, parts: Sequence[range]) -> tuple[Assembly, str]:
    """The launch, each part by a `Run` of its own, pickled as on the way to a process and back."""
    assembly = Assembly(whole := problem.begin())
    for waves in parts:
        image = pickle.loads(pickle.dumps(whole.image))
        run = Run(read(problem.text), "k", 16, 64, image, max_steps=2000)
        why = assembly.add(pickle.loads(pickle.dumps(part_of(run, waves))))
        if why:
            return assembly, why
    return assembly, ""


@pytest.fixture(autouse=True)
def _small_waves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tilec.sim.residency.WAVE_THREADS", 64)


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("arrange", [lambda parts: parts, lambda parts: parts[::-1]])
def test_what_gives_the_same(name: str, arrange: Callable[[list[range]], list[range]]) -> None:
    whole, apart = Problem(APART[name], 9), Problem(APART[name], 9)
    before = apart.bytes
    report = launch(whole.text, "k", 16, 64, whole.args, max_steps=2000)
    assembly, why = in_parts(apart, arrange(split(16, 5)))
    assert not why
    assert not assembly.why_not()
    assert apart.bytes == before
    assert said(assembly.report()) == said(report)
    assert apart.bytes == whole.bytes
    assert whole.bytes != before or name == "what is printed"
    assert report.ok == (name in list(APART)[:5])


@pytest.mark.parametrize("name", TOGETHER)
def test_what_does_not_is_seen(name: str) -> None:
    body, words = TOGETHER[name]
    problem = Problem(body, 9)
    _, why = in_parts(problem, split(16, 5))
    assert words in why


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("mov.u32 %r7, %clock;", "it reads a clock"),
        ("", "its CTAs are one wave"),
        (DOUBLE, "without checks"),
    ],
)
def test_what_is_not_tried(body: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not body:
        monkeypatch.setattr("tilec.sim.residency.WAVE_THREADS", 8192)
    assert words in why_whole(Problem(body, 9).begin(checks="without" not in words))
    assert not why_whole(Problem(DOUBLE, 9).begin()) or not body


def test_split() -> None:
    for waves in range(1, 40):
        for parts in range(1, 12):
            found = split(waves, parts)
            assert [n for part in found for n in part] == list(range(waves))
            assert len(found) == min(waves, parts)
            assert max(map(len, found)) - min(map(len, found)) <= 1


def test_spans() -> None:
    marks = np.array([1, 1, 0, 0, 1, 0, 1, 1, 1], np.uint8)
    assert spans(marks).tolist() == [[0, 2], [4, 5], [6, 9]]
    assert not spans(np.zeros(4, np.uint8)).size
