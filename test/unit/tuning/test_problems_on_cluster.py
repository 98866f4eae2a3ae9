"""`tile-run --problems --scheduler`: workers give what this process gives."""

from __future__ import annotations

import json
import pickle
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.sim import read
from tilec.sim.run import Run
from tilec.tools import problems_on_cluster, run_on_cluster, tile_run
from tilec.tools.problems_on_cluster import Problem, Solved
from tilec.tools.run_on_cluster import Failed, Launch
from tilec.tuning.errors import TuningError

from .dask_processes import Started

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 total;
.visible .entry k(.param .u64 x, .param .u64 y, .param .u32 times)
{
 .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .pred %p<3>;
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; ld.param.u32 %r5, [times]; mov.u32 %r4, 0;
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 128, %r1;
 mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
 ld.global.f32 %f1, [%rd4]; mov.f32 %f2, 0f00000000; MORE
again: add.f32 %f2, %f2, %f1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, %r5; @%p1 bra again;
 st.global.f32 [%rd5], %f2;
 ret;
}
"""
COUNTER = "mov.u64 %rd6, total; red.global.add.u32 [%rd6], 1;"
CHECK = """def reference(x, y, times):
    total = 0 * x
    for _ in range(times):
        total += x
    return {1: total}
"""


def problem(more: str = "", **settings: Any) -> tuple[Problem, list[Any]]:
    x, text = np.arange(256, dtype=np.float32), KERNEL.replace("MORE", more)
    arrays = [x, np.zeros_like(x), np.uint32(3)]
    run = Run(read(text), "k", (2,), (128,), arrays, **settings)
    return Problem(run, Launch(text, "<ptx>", "k", (2,), (128,), run.image, settings)), arrays


def test_what_a_worker_answers() -> None:
    """Its answer changes arrays here, also where nobody checks what CTAs read and write."""
    mine = run_on_cluster.simulator_versions()
    for settings in ({}, {"checks": False}, {"every_order": True}):
        one, (x, y, _) = problem(**settings)
        answer = problems_on_cluster.solve(pickle.dumps(one.launch), mine)
        assert isinstance(answer, Solved)
        assert not y.any()
        report = one.take(pickle.loads(pickle.dumps(answer)))
        assert np.array_equal(y, 3 * x)
        assert report.completed
        assert (report.orders is not None) == ("every_order" in settings)
    unknown, _ = problem("frobnicate.b32 %r1, %r1;")
    failed = problems_on_cluster.solve(pickle.dumps(unknown.launch), mine)
    assert isinstance(failed, Failed)
    assert "frobnicate" in failed.why
    with pytest.raises(TuningError, match=r"it has simulator .* where the client has other"):
        problems_on_cluster.solve(pickle.dumps(one.launch), {**mine, "simulator": "other"})


def lines(folder: Path) -> list[str]:
    """Some of a wave, some of several, one with findings, one that cannot be run."""
    sizes = (1, 2, 70, 3, 5, 100, 2, 4)
    made = [
        f"--grid {n} --arg randn:{128 * n} --arg zeros:{128 * n} --arg {300 + n} "
        f"--out 1={folder}/{at}.npy"
        for at, n in enumerate(sizes)
    ]
    outside = f"--grid 2 --arg randn:128 --arg zeros:256 --arg 3 --out 1={folder}/no.npy"
    return [*made[:3], outside, "--arg none.npy", *made[3:]]


@pytest.mark.slow
@pytest.mark.parametrize(("more", "words"), [("", []), (COUNTER, []), ("", ["--no-checks"])])
def test_a_cluster_gives_what_one_process_gives(
    more: str, words: list[str], tmp_path: Path, worker: Started, capsys: pytest.CaptureFixture[str]
) -> None:
    """CTAs that add to one counter are of one problem, and so run on one worker."""
    (tmp_path / "k.ptx").write_text(KERNEL.replace("MORE", more))
    (tmp_path / "k.py").write_text(CHECK)
    (tmp_path / "p.txt").write_text("\n".join(lines(tmp_path)))
    given = [str(tmp_path / "k.ptx"), "--problems", str(tmp_path / "p.txt"), *words]
    given += ["--block", "128", "--report", "json", "--device", "sim"]
    given += ["--check", str(tmp_path / "k.py")]
    found = []
    for how in ([], ["--scheduler", worker.address]):
        assert tile_run.main([*given, *how]) == 1
        captured = capsys.readouterr()
        files = {file.name: file.read_bytes() for file in tmp_path.glob("*.npy")}
        for file in tmp_path.glob("*.npy"):
            file.unlink()
        said = [line for line in captured.err.splitlines() if "dashboard: " not in line]
        found.append((json.loads(captured.out), said, files))
    assert found[0] == found[1]
    documents, said, files = found[0]
    assert [at for at, one in enumerate(documents) if one["error"]] == [3, 4]
    assert said[-1] == "error: 2 of 10 problems failed"
    assert len(files) == 8


@pytest.mark.slow
def test_workers_that_die_and_none(
    tmp_path: Path, started: Callable[..., Started], capsys: pytest.CaptureFixture[str]
) -> None:
    """What one that is killed was at is run by another, against numpy."""
    cluster = started()
    workers = [cluster.worker() for _ in range(2)]
    cluster.wait_for_workers(2)
    seen: list[int] = []

    def begin(number: int) -> Problem:
        if number == 5:
            workers[0].send_signal(signal.SIGKILL)
            assert workers[0].wait() == -signal.SIGKILL
        return made[number][0]

    def end(number: int, one: Problem, answer: Solved | str) -> None:
        assert isinstance(answer, Solved)
        one.take(answer)
        seen.append(number)

    made = [problem() for _ in range(12)]
    cluster_ = run_on_cluster.Cluster(cluster.address)
    problems_on_cluster.solve_all(range(12), begin, end, cluster_)
    assert sorted(seen) == list(range(12))
    assert all(np.array_equal(y, 3 * x) for _, (x, y, _) in made)
    cluster.processes[0].kill()
    (tmp_path / "k.ptx").write_text(KERNEL.replace("MORE", ""))
    (tmp_path / "p.txt").write_text(lines(tmp_path)[0])
    words = [str(tmp_path / "k.ptx"), "--problems", str(tmp_path / "p.txt"), "--block", "128"]
    capsys.readouterr()
    assert tile_run.main([*words, "--scheduler", cluster.address]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"error: scheduler {cluster.address}: ")
    assert said.count("error: ") == 1
