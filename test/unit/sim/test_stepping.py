"""Stops of a launch: where, what is seen there against numpy, and how it goes on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tilec.sim import Debugger, LaunchError, QuitDebugging, Report, Stop, launch

FOREIGN = Path(__file__).parents[2] / "foreign"

CALLS = """.version 8.0
.target sm_80
.address_size 64
.file 1 "/src/calls.py"
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %t<3>;
  .loc 1 2 0
  ld.param.u32 %t1, [value];
  add.u32 %t2, %t1, %t1;
  .loc 1 3 0
  st.param.b32 [result], %t2;
  ret;
}
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  .loc 1 10 0
  ld.param.u64 %rd1, [x];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 11 0
  { .param .b32 in; .param .b32 out;
  st.param.b32 [in], %r1;
  call (out), twice, (in);
  ld.param.b32 %r2, [out]; }
  .loc 1 12 0
  st.global.u32 [%rd3], %r2;
  ret;
}
"""


def line_of(ptx: str, mark: str) -> int:
    return next(n for n, line in enumerate(ptx.splitlines(), 1) if mark in line)


def run(ptx: str, debugger: Debugger, threads: int = 64, grid: int = 2) -> tuple[Report, object]:
    x = np.zeros(threads, np.uint32)
    return launch(ptx, "k", grid, threads, [x], debugger=debugger), x


def walk(
    go_on: Callable[[Stop], None], *breakpoints: str | int, at_start: bool = True
) -> list[str]:
    """The places where a launch stops that goes on so."""
    places = []

    def stopped(stop: Stop) -> None:
        places.append(f"{stop.origin.rpartition(':')[2]} {stop.instruction.opcode}")
        go_on(stop)

    report, x = run(CALLS, Debugger(stopped, breakpoints, at_start=at_start))
    assert report.ok
    np.testing.assert_array_equal(x, 2 * np.arange(64))
    return places


def test_instructions_in_the_order_of_the_text() -> None:
    assert walk(Stop.step) == [
        "10 ld", "10 mov", "10 mul", "10 add", "11 st", "11 call", "2 ld", "2 add", "3 st", "3 ret",
        "11 ld", "12 st", "12 ret",
    ]  # fmt: skip


def test_lines() -> None:
    lines = ["10 ld", "11 st", "2 ld", "3 st", "11 ld", "12 st"]
    assert walk(Stop.step_line) == lines
    assert walk(Stop.next_line) == ["10 ld", "11 st", "12 st"]


def test_finish_leaves_the_function() -> None:
    assert walk(Stop.finish, "twice", at_start=False) == ["2 ld", "11 ld"]
    assert walk(Stop.finish) == ["10 ld"]


@pytest.mark.parametrize(
    ("place", "stops"),
    [
        ("calls.py:11", ["11 st"]), ("/src/calls.py:12", ["12 st"]), ("src/calls.py:3", ["3 st"]),
        ("st.global", ["12 st"]), (".loc 1 12", ["12 st"]), ("k", ["10 ld"]),
    ],
)  # fmt: skip
def test_breakpoints(place: str, stops: list[str]) -> None:
    """A place is that of a line of the PTX which has the words, or as it stands."""
    at = place if ":" in place or place == "k" else line_of(CALLS, place)
    assert walk(Stop.go_on, at, at_start=False) == stops


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("calls.py:5", "no instruction is of line 5 of calls.py; nearest: 2, 3, 10"),
        ("other.py:5", "no instruction is of 'other.py'; files that .loc names: /src/calls.py"),
        (99, "has no instruction at or after line 99; the last is at 30"),
        ("twise", "'twise' is not LINE, FILE:LINE or a function; functions: twice"),
    ],
)
def test_places_without_instructions(place: str | int, words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        walk(Stop.go_on, place)


def test_what_a_stop_refuses() -> None:
    def stopped(stop: Stop) -> None:
        for ask, words in (
            (lambda: stop.register("%r77"), "no register '%r77' here; nearest: %r"),
            (lambda: stop.focus(thread=64), "thread 64; a CTA has 64"),
            (lambda: stop.focus(cta=(2,)), r"CTA \(2, 0, 0\) is not in the grid \(2, 1, 1\)"),
            (lambda: stop.fragment("a"), "'ld.param.u64' is not a matrix instruction"),
            (lambda: stop.fragment("a", 3), "line 3 is not an instruction of k"),
            (lambda: stop.shared(0, (2, 2), "f16"), "is not all in shared memory"),
            (lambda: stop.shared(0, (2, 2), "f17"), "no type 'f17'; nearest: f16"),
            (lambda: stop.shared(0, (2, 2), "f16", "48B"), "unknown swizzle '48B'"),
            (lambda: stop.memory(0, 4, "f32"), "0x0: no 16 bytes of global memory"),
            (lambda: stop.debugger.add("nowhere"), "'nowhere' is not LINE"),
            (lambda: stop.debugger.remove(4), "no breakpoint 4; there are: none"),
        ):  # fmt: skip
            with pytest.raises(LaunchError, match=words):
                ask()
        stop.quit()

    with pytest.raises(QuitDebugging):
        run(CALLS, Debugger(stopped))


def test_registers_and_memory_of_threads() -> None:
    seen = []

    def stopped(stop: Stop) -> None:
        stop.focus(cta=(1,), thread=35)
        assert "CTA (1, 0, 0) warp 1 lane 3, thread (35, 0, 0)" in stop.who
        seen.append(stop.register("%r2").tolist())
        assert stop.register("%ctaid.x").tolist() == [1] * 32
        # CTA 0 and 1 store together, before this.
        np.testing.assert_array_equal(stop.memory("%rd3", 4, "u32"), [0] * 4)
        assert [one.partition(" at ")[0] for one in stop.frames()] == ["k"]
        assert stop.active.all()

    run(CALLS, Debugger(stopped, ["calls.py:12"], at_start=False))
    assert seen == [list(range(64, 128, 2))]


BARRIERS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 x)
{
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
  .shared .align 8 .b8 mbar[8];
  mov.u32 %r1, %tid.x; setp.ne.u32 %p1, %r1, 0; mov.u32 %r3, mbar;
  @!%p1 mbarrier.init.shared.b64 [%r3], COUNT;
  bar.sync 0;
  setp.ge.u32 %p1, %r1, 32;
  @%p1 bra other;
again:
  mbarrier.try_wait.parity.shared.b64 %p2, [%r3], 0;
  @!%p2 bra again;
  bar.sync 1, 64;
  ret;
other:
  setp.ge.u32 %p1, %r1, 64;
  @%p1 bra third;
  bar.sync 1, 64; // second
  ret;
third:
  mbarrier.arrive.shared.b64 %rd1, [%r3]; // third
  ret;
}
"""


def test_who_waits_for_what() -> None:
    ptx, seen = BARRIERS.replace("COUNT", "32"), []

    def stopped(stop: Stop) -> None:
        seen.extend([*stop.waits(), *stop.standing()])

    debugger = Debugger(stopped, [line_of(ptx, "mbarrier.arrive")], at_start=False)
    report, _ = run(ptx, debugger, threads=96, grid=1)
    assert report.ok
    text = "\n".join(seen)
    assert "barrier 1 (of 64 threads) blocks 32 threads" in text
    assert "warp 0 of CTA (0, 0, 0) waits at" in text
    assert "in phase 0 with 32 of 32 arrivals" in text
    assert "32 threads, warp 1 of CTA (0, 0, 0): at a barrier" in text


def test_a_deadlock_is_a_stop() -> None:
    ptx, seen = BARRIERS.replace("COUNT", "33"), []

    def stopped(stop: Stop) -> None:
        seen.append(stop.reason)
        assert any("with 1 of 33 arrivals" in one for one in stop.waits())

    report, _ = run(ptx, Debugger(stopped, at_start=False), threads=96, grid=1)
    (reason,) = seen
    assert reason.startswith("deadlock: no thread can make progress")
    assert [one.kind for one in report.findings] == ["deadlock"]


def test_a_finding_is_a_stop_after_its_instruction() -> None:
    ptx = CALLS.replace("add.s64 %rd3, %rd1, %rd2;", "add.s64 %rd3, %rd2, 64;")
    seen = []

    def stopped(stop: Stop) -> None:
        seen.append((stop.reason.partition(":")[0], stop.instruction.opcode))

    report, _ = run(ptx, Debugger(stopped, at_start=False))
    assert not report.ok
    assert seen == [("out-of-bounds", "ret")]


def test_a_debugger_is_for_one_launch() -> None:
    debugger = Debugger(Stop.go_on)
    run(CALLS, debugger)
    with pytest.raises(LaunchError, match="a debugger is for one launch"):
        run(CALLS, debugger)


def test_fragments_of_a_warp() -> None:
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-8, 9, shape).astype(np.float32) for shape in ((16, 16), (16, 8)))
    halves = [(v.view(np.uint32) >> 16).astype(np.uint16) for v in (a, b)]
    path, seen = FOREIGN / "clang.ptx", []
    at = line_of(path.read_text(), "mma.sync")

    def stopped(stop: Stop) -> None:
        if stop.line != at:
            np.testing.assert_array_equal(stop.fragment("d", at), a @ b)
            seen.append(stop.line)
            return
        found = {name: stop.fragment(name).astype(np.float32) for name in stop.operands()}
        np.testing.assert_array_equal(found["a"], a)
        np.testing.assert_array_equal(found["b"], b)
        np.testing.assert_array_equal(found["c"], np.zeros((16, 8)))
        stop.step()

    args = [np.zeros((16, 8), np.float32), *halves]
    launch(path, "small_product", 1, 32, args, debugger=Debugger(stopped, [at], at_start=False))
    assert seen == [at + 1]
