"""Launches that workers help with against the same by one process: everything is equal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.sim import LaunchError, PtxError, launch
from tilec.sim.native import choice as engine
from tilec.sim.processes import beside, choice, crew, pool, room

from .test_parts import APART, DOUBLE, HEAD, TOGETHER, Problem, said

FLAG = """setp.eq.u32 %p3, %r2, 2; @%p3 st.global.u32 [%rd3], 1;
 setp.ne.u32 %p4, %r2, 12; @%p4 bra done;
again: ld.global.u32 %r7, [%rd3]; setp.eq.u32 %p5, %r7, 0; @%p5 bra again;"""
"""CTA 12 waits for what CTA 2 does long before."""
ALONE = 6
"""Waves that the launching process runs itself."""


@pytest.fixture(autouse=True)
def seen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Why what workers did was of no use, of each launch; empty if it was.

    They are asked after the first wave, and run the last ten, for which they have all the time.
    """
    monkeypatch.setattr("tilec.sim.residency.WAVE_THREADS", 64)
    monkeypatch.setattr(beside, "WORTH", -1.0)
    monkeypatch.setattr(beside, "WORTH_AT_ONCE", -1.0)
    monkeypatch.setattr(crew, "_GRACE", 100.0)
    leaves, next_, finish = crew.Crew.leaves, crew.Crew._next, crew.Crew.finish
    whys = list[str]()

    def patient(self: crew.Crew, number: int) -> bool:
        return (number < ALONE or bool(self.why)) and leaves(self, number)

    def kept(self: crew.Crew, worker: pool.Worker) -> range | None:
        with self._changed:
            self._here = max(self._here, ALONE)
            return next_(self, worker)

    def noted(self: crew.Crew, number: int, told: Callable[[], None]) -> str:
        whys.append(finish(self, number, told))
        return whys[-1]

    monkeypatch.setattr(crew.Crew, "leaves", patient)
    monkeypatch.setattr(crew.Crew, "_next", kept)
    monkeypatch.setattr(crew.Crew, "finish", noted)
    return whys


@pytest.fixture(autouse=True, scope="module")
def _no_workers_left() -> Iterator[None]:
    yield
    pool.pool().end()
    pool._pool.cache_clear()


def run(
    problem: Problem, monkeypatch: pytest.MonkeyPatch, processes: int, **more: Any
) -> tuple[dict[str, Any], bytes]:
    """What a launch says, or its error, and what the arrays hold then."""
    monkeypatch.setenv(choice.PROCESSES, str(processes))
    given: dict[str, Any] = {"max_steps": 2000, **more}
    try:
        found = said(launch(problem.text, "k", 16, 64, problem.args, **given))
    except PtxError as error:
        found = {"error": str(error)}
    return found, problem.bytes


@pytest.mark.parametrize("name", APART)
def test_what_is_put_together(
    name: str, monkeypatch: pytest.MonkeyPatch, seen: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    one = run(Problem(APART[name], 9), monkeypatch, 1)
    assert not seen
    assert run(Problem(APART[name], 9), monkeypatch, 3) == one
    assert seen == [""]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("name", TOGETHER)
def test_what_is_not(name: str, monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    one = run(Problem(TOGETHER[name][0], 9), monkeypatch, 1)
    assert run(Problem(TOGETHER[name][0], 9), monkeypatch, 3) == one
    assert len(seen) <= 1  # none if a worker has met another before
    assert all("argument" in why or "ticket" in why for why in seen)


def test_findings_of_both(monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    # Two CTAs of a wave write the same, and what nothing has written.
    body = """ld.shared.u32 %r7, [%r4]; and.b32 %r8, %r2, 14; mad.lo.u32 %r8, %r8, 64, %r1;
     add.u32 %r7, %r7, %r2; mul.wide.u32 %rd4, %r8, 4; add.s64 %rd6, %rd3, %rd4;
     st.global.u32 [%rd6], %r7; """
    monkeypatch.setattr("tilec.sim.residency.WAVE_THREADS", 128)
    monkeypatch.setitem(globals(), "ALONE", 3)
    one = run(Problem(body, 9), monkeypatch, 1)
    kinds = {finding["kind"]: finding["count"] for finding in one[0]["findings"]}
    assert kinds == {"uninitialised": 16 * 64, "race": 8 * 64}
    assert run(Problem(body, 9), monkeypatch, 3) == one
    assert seen == [""]


def test_a_trap_here(monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    one = run(Problem(APART["a trap in the middle"], 3), monkeypatch, 1)
    assert run(Problem(APART["a trap in the middle"], 3), monkeypatch, 3) == one
    assert not seen


def test_an_error_of_a_worker(monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    body = f"{DOUBLE} @!%p2 bra done; alloca.u64 %rd1, 16;"
    one = run(Problem(body, 9), monkeypatch, 1)
    assert "alloca" in one[0]["error"]
    assert run(Problem(body, 9), monkeypatch, 2) == one
    assert all("alloca" in why for why in seen), seen


def test_a_worker_that_is_killed(monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    ask, killed = pool.Worker.ask, list[int]()

    def die(self: pool.Worker, message: object) -> object:
        if isinstance(message, range) and not killed:
            killed.append(self.pid)
            os.kill(self.pid, signal.SIGKILL)
        return ask(self, message)

    one = run(Problem(DOUBLE, 9), monkeypatch, 1)
    with monkeypatch.context() as patch:
        patch.setattr(pool.Worker, "ask", die)
        assert run(Problem(DOUBLE, 9), monkeypatch, 2) == one
    assert killed
    assert all(seen)
    workers = pool.pool()
    assert killed[0] not in workers.pids
    assert run(Problem(DOUBLE, 9), monkeypatch, 2) == one
    assert seen[-1] == ""


@pytest.mark.parametrize("first", ["kill", "give"])
def test_a_worker_that_ends_with_its_work_done(first: str) -> None:
    workers = pool.pool()
    worker = workers.take()
    if first == "kill":
        worker.kill()
    workers.give(worker)
    worker.kill()
    another = workers.take()
    assert running(another.pid)
    workers.give(another)
    assert worker.pid not in workers.pids


def test_a_worker_that_waits_for_what_comes_before(
    monkeypatch: pytest.MonkeyPatch, seen: list[str]
) -> None:
    one = run(Problem(FLAG, 9), monkeypatch, 1, max_steps=None)
    assert one[0]["completed"]
    monkeypatch.setattr(crew, "_GRACE", 0.5)
    assert run(Problem(FLAG, 9), monkeypatch, 2, max_steps=None) == one
    assert seen == ["workers are late"]


def test_an_interrupt(monkeypatch: pytest.MonkeyPatch) -> None:
    busy = list[int]()

    def interrupt(self: crew.Crew, number: int, told: Callable[[], None]) -> str:
        with self._changed:
            while not self._given:
                self._changed.wait(0.01)
            busy.extend(worker.pid for worker in self._given)
        raise KeyboardInterrupt

    monkeypatch.setattr(crew.Crew, "finish", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run(Problem(FLAG, 9), monkeypatch, 2, max_steps=None)
    assert busy
    assert gone(busy)
    assert pool.pool().acquire()
    pool.pool().release()


def gone(pids: list[int]) -> bool:
    """Whether processes end, before long."""
    for _ in range(200):
        left = [pid for pid in pids if running(pid)]
        if not left:
            return True
        time.sleep(0.05)
    return False


def running(pid: int) -> bool:
    """Whether a process is there, and not only its number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


PROGRAM = f"""
import os, sys, threading, time
import numpy as np
from tilec.sim import TensorMap, launch, residency
from tilec.sim.processes import beside, crew, pool
residency.WAVE_THREADS, beside.WORTH, beside.WORTH_AT_ONCE = 64, -1.0, -1.0
leaves = crew.Crew.leaves
def stop(self, number):
    with self._changed:
        while not self._given:
            self._changed.wait(0.01)
    print(*pool.pool().pids, flush=True)
    if sys.argv[1] == "exit":
        sys.exit()
    time.sleep(100)
crew.Crew.leaves = stop
x, y = np.zeros((64, 16), np.float32), np.zeros((64, 16), np.float32)
box = TensorMap(np.zeros((128, 16), np.uint32), box=(8, 16))
launch({(HEAD + FLAG)!r} + "done: ret; }}", "k", 16, 64, [box, x, y, np.uint32(9)])
"""


@pytest.mark.parametrize("how", ["exit", pytest.param("kill", marks=pytest.mark.slow)])
def test_the_end_of_who_launches(how: str) -> None:
    environment = {**os.environ, choice.PROCESSES: "2", engine.VARIABLE: "numpy"}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, how], stdout=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        pids = [int(pid) for pid in process.stdout.readline().split()]
        if how == "kill":
            process.kill()
    assert len(pids) == 1
    assert gone(pids)


def test_progress(monkeypatch: pytest.MonkeyPatch, seen: list[str]) -> None:
    told: list[tuple[int, int]] = []
    run(Problem(DOUBLE, 9), monkeypatch, 3, progress=lambda *counts: told.append(counts))
    assert seen == [""]
    assert told == sorted(set(told))
    assert told[-1] == (16, 16)


@pytest.mark.parametrize(
    "more",
    [{"checks": False}, {"order": 1}, {"timeline": (0, 0, 0)}, {"every_order": True}],
)
def test_who_has_no_workers(
    more: dict[str, Any], monkeypatch: pytest.MonkeyPatch, seen: list[str]
) -> None:
    run(Problem(DOUBLE, 9), monkeypatch, 3, **more)
    assert not seen


@pytest.mark.parametrize("said_", ["0", "two", "-1", "1.5"])
def test_what_is_no_number(said_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(choice.PROCESSES, said_)
    with pytest.raises(LaunchError, match="legal: a number of processes, at least 1"):
        launch(Problem(DOUBLE, 9).text, "k", 1, 64, Problem(DOUBLE, 9).args)


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(choice.PROCESSES, raising=False)
    monkeypatch.delenv("PYTEST_XDIST_WORKER_COUNT", raising=False)
    monkeypatch.setattr(choice, "cores", lambda: 6)
    assert choice.processes() == 6
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "4")
    assert choice.processes() == 1
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "2")
    assert choice.processes() == 3
    monkeypatch.setattr("multiprocessing.process.parent_process", object)
    assert choice.processes() == 1
    monkeypatch.setenv(choice.PROCESSES, "5")
    assert choice.processes() == 5
    for executable in ("", "/usr/bin/blender"):
        monkeypatch.setattr(sys, "executable", executable)
        assert choice.processes() == 1


def test_room(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, seen: list[str]) -> None:
    monkeypatch.setattr(room, "_SAYS", tmp_path / "meminfo")
    for free, size, workers in (1 << 30, 0, 2), (8 << 30, 1 << 30, 1), (1 << 30, 1 << 30, 0):
        text = f"MemTotal: 1 kB\nMemAvailable: {free >> 10} kB\n"
        (tmp_path / "meminfo").write_text(text)
        assert room.workers_at_most(size) == workers
    run(Problem(DOUBLE, 9), monkeypatch, 3)
    assert seen == [""]
    (tmp_path / "meminfo").write_text("MemAvailable: 1 kB\n")
    run(Problem(DOUBLE, 9), monkeypatch, 3)
    assert seen == [""]


EXAMPLES = Path(__file__).parents[3] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "grid", "a", "b", "element"),
    [
        ("gemm.mlir", (4, 4), (512, 512), (512, 512), np.float32),
        ("hopper/tiles.mlir", (4, 8), (1024, 128), (1024, 128), np.float16),
    ],
)
def test_machine_code(
    name: str,
    grid: tuple[int, int],
    a: tuple[int, int],
    b: tuple[int, int],
    element: type[np.floating[Any]],
    monkeypatch: pytest.MonkeyPatch,
    seen: list[str],
) -> None:
    monkeypatch.setenv(engine.VARIABLE, "native")
    compiled = tilec.compile(EXAMPLES / name, target="sm_90a")
    found: list[tuple[dict[str, Any], bytes]] = []
    for processes in "1", "3":
        monkeypatch.setenv(choice.PROCESSES, processes)
        rng = np.random.default_rng(0)
        given = [rng.standard_normal(shape).astype(np.float16) for shape in (a, b)]
        c = np.zeros((grid[1] * 128, given[1].shape[name == "gemm.mlir"]), element)
        report = compiled.launch(*given, c, grid=grid, device="sim")
        found.append((said(report), c.tobytes()))
    assert seen == [""]
    assert found[0] == found[1]
    assert any(found[0][1])
