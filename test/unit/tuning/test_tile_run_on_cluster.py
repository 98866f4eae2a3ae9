"""`tile-run --scheduler`: CTAs of a launch on workers give what one process gives."""

from __future__ import annotations

import json
import pickle
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tilec.sim import launch, read
from tilec.sim.run import Run
from tilec.tools import run_on_cluster, tile_run
from tilec.tools.run_on_cluster import Cluster, Failed, Launch, Missing
from tilec.tuning.connection import Tls
from tilec.tuning.errors import TuningError

from .dask_processes import Started, certificates

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 x, .param .u64 y)
{
 .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<4>; .reg .pred %p<3>;
 ld.param.u64 %rd1, [x]; ld.param.u64 %rd2, [y]; mov.u32 %r4, 0; mov.f32 %f2, 0f00000000;
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 128, %r1;
 mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
 ld.global.f32 %f1, [%rd4];
again: add.f32 %f2, %f2, %f1; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 2000; @%p1 bra again;
 setp.eq.u32 %p2, %r2, 700; @%p2 st.global.f32 [%rd5+1048576], %f2; // outside
 st.global.f32 [%rd5], %f2; MORE
 ret;
}
"""
OTHER = """import tilec.tools.run_on_cluster as it

mine = dict(it.simulator_versions())
it.simulator_versions = lambda: {**mine, "simulator": "other"}
"""
GRID, BLOCK = (1024,), (128,)


class Problem:
    """The arguments of a launch, anew for each run."""

    def __init__(self, more: str = "") -> None:
        self.text = KERNEL.replace("MORE", more)
        self.x = np.random.default_rng(0).standard_normal(1024 * 128).astype(np.float32)
        self.y = np.zeros_like(self.x)

    @property
    def launch(self) -> Launch:
        return Launch(self.text, "<ptx>", "k", GRID, BLOCK, self.begin().image, {})

    def begin(self) -> Run:
        return Run(read(self.text), "k", GRID, BLOCK, [self.x, self.y])


@pytest.mark.slow
def test_a_cluster_gives_what_one_process_gives(
    started: Callable[..., Started], capsys: pytest.CaptureFixture[str]
) -> None:
    """A worker is killed while it works. The finding is of a CTA in the middle."""
    cluster = started()
    workers = [cluster.worker() for _ in range(2)]
    cluster.wait_for_workers(2)
    seen: list[int] = []

    def hurt(ended: int, ctas: int) -> None:
        assert ctas == 1024
        if not seen:
            workers[0].send_signal(signal.SIGKILL)
            workers[0].wait()
            time.sleep(1.5)  # so that the scheduler knows before the rest has ended
        seen.append(ended)

    one, many = Problem(), Problem()
    alone = launch(one.text, "k", GRID, BLOCK, [one.x, one.y])
    report = run_on_cluster.simulate(many.begin(), Cluster(cluster.address), many.launch, hurt)
    assert workers[0].wait() == -signal.SIGKILL
    assert seen == sorted(seen)
    assert seen[-1] == 1024
    assert len(seen) > 2
    assert [kind.kind for kind in alone.findings] == ["out-of-bounds"]
    assert json.loads(report.to_json()) == json.loads(alone.to_json())
    assert one.y.tobytes() == many.y.tobytes()
    said = capsys.readouterr().err
    assert "in this process" not in said
    assert re.search(r"remark: 1 of the workers (died|was given up); what they were at ran", said)


@pytest.mark.slow
def test_the_command_on_a_cluster(
    tmp_path: Path, worker: Started, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.ptx"
    outputs = {}
    for name, more in (("apart", ""), ("together", "red.global.add.f32 [%rd2], %f2;")):
        file.write_text(KERNEL.replace("MORE", more).replace("@%p2 st", "// st"))
        for how in ([], ["--scheduler", worker.address]):
            words = [str(file), "--device", "sim", "--grid", "256", "--block", "128"]
            arrays = ["--arg", "randn:32768", "--arg", "randn:32768"]
            out = tmp_path / f"{len(how)}.npy"
            assert tile_run.main([*words, *arrays, "--out", f"1={out}", *how]) == (name != "apart")
            captured = capsys.readouterr()
            outputs[name, len(how)] = captured.out, out.read_bytes()
            assert how or not captured.err or name != "apart"
        assert outputs[name, 0] == outputs[name, 2]
        words = "kernel 'k' is run in this process: CTAs "
        assert (words in captured.err) == (name == "together")


@pytest.mark.slow
def test_by_tls_and_on_this_machine(
    tmp_path: Path,
    started: Callable[..., Started],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each gives what one process does; a peer of another authority is not spoken to."""
    monkeypatch.setattr("tilec.tuning.connection.CONNECT", 5.0)
    mine, others = certificates(tmp_path, "mine"), certificates(tmp_path, "others")
    cluster = started(["--tls-ca-file", mine.ca, "--tls-cert", mine.cert, "--tls-key", mine.key])
    cluster.worker()
    file, out = tmp_path / "k.ptx", tmp_path / "y.npy"
    file.write_text(KERNEL.replace("MORE", "").replace("@%p2 st", "// st").replace("2000", "200"))
    words = [str(file), "--device", "sim", "--grid", "256", "--block", "128"]
    words += ["--arg", "randn:32768", "--arg", "randn:32768", "--out", f"1={out}"]

    def flags(of: Tls) -> list[str]:
        return ["--tls-ca", of.ca, "--tls-cert", of.cert, "--tls-key", of.key]

    def run(*how: str) -> tuple[str, bytes]:
        assert tile_run.main([*words, *how]) == 0
        captured = capsys.readouterr()
        assert ("dashboard: " in captured.err) == bool(how)
        assert "in this process" not in captured.err
        written = out.read_bytes()
        out.unlink()
        return captured.out, written

    alone = run()
    assert cluster.address.startswith("tls://")
    assert run("--scheduler", cluster.address, *flags(mine)) == alone
    assert run("--scheduler", "local") == alone
    plain = cluster.address.replace("tls", "tcp")
    for address, how in ((cluster.address, flags(others)), (cluster.address, []), (plain, [])):
        assert tile_run.main([*words, "--scheduler", address, *how]) == 1
        assert capsys.readouterr().err.startswith(f"error: scheduler {address}: ")
        assert not out.exists()


@pytest.mark.slow
def test_workers_with_another_simulator_and_none(
    tmp_path: Path, started: Callable[..., Started], capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = started()
    (tmp_path / "other.py").write_text(OTHER)
    cluster.worker("--preload", str(tmp_path / "other.py"))
    file = tmp_path / "k.ptx"
    file.write_text(KERNEL.replace("MORE", ""))
    words = [str(file), "--grid", "1024", "--block", "128", "--scheduler", cluster.address]
    arrays = ["--arg", "randn:131072", "--arg", "zeros:131072"]
    assert tile_run.main([*words, *arrays]) == 1
    said = capsys.readouterr().err
    assert "error: CTAs 0 to 255: it has simulator other where the client has" in said
    cluster.processes[0].kill()
    assert tile_run.main([*words, *arrays]) == 1
    assert f"error: scheduler {cluster.address}: " in capsys.readouterr().err


def test_what_a_worker_answers() -> None:
    """It asks for a launch that it has not, and says why one cannot go on."""
    problem = Problem()
    sent, mine = pickle.dumps(problem.launch), run_on_cluster.simulator_versions()
    assert run_on_cluster.run_part("none", None, 0, 1, mine) == Missing()
    found = run_on_cluster.run_part("one", sent, 0, 1, mine)
    again = run_on_cluster.run_part("one", None, 0, 1, mine)
    assert isinstance(found, type(again))
    assert not isinstance(found, Missing | Failed)
    assert found.data.tobytes() == problem_part(problem)
    with pytest.raises(TuningError, match=r"it has simulator .* where the client has other"):
        run_on_cluster.run_part("one", None, 0, 1, {**mine, "simulator": "other"})
    unknown = Problem("frobnicate.b32 %r1, %r1;")
    answer = run_on_cluster.run_part("two", pickle.dumps(unknown.launch), 0, 1, mine)
    assert isinstance(answer, Failed)
    assert "frobnicate" in answer.why


def problem_part(problem: Problem) -> bytes:
    """What the first 64 CTAs store."""
    total = np.zeros(64 * 128, np.float32)
    for _ in range(2000):
        total += problem.x[: 64 * 128]
    return total.tobytes()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scheduler", "tcp://10.0.0.1:8786"], "10.0.0.1:8786 is not on this machine"),
        (["--scheduler", "here"], "scheduler 'here' is not an address"),
        (["--scheduler", "local", "--timeline", "t.html"], "--timeline shows a launch that one"),
        (["--scheduler", "local", "--debug"], "--debug shows a launch that one process runs"),
        (["--scheduler", "local", "--device", "cuda"], "--scheduler is only for the simulator"),
        (["--scheduler", "tls://a:1", "--tls-ca", "c"], "--tls-ca and --tls-cert go together"),
        (["--tls-ca", "c", "--tls-cert", "d"], "--tls-key go with --scheduler"),
    ],
)
def test_wrong_use(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed")
    file = tmp_path / "k.ptx"
    file.write_text(KERNEL.replace("MORE", ""))
    arguments = ["--grid", "1024", "--block", "128", "--arg", "randn:131072"]
    assert tile_run.main([str(file), *arguments, "--arg", "zeros:131072", *words]) == 1
    captured = capsys.readouterr()
    assert captured.err.count("error: ") == 1
    assert said in captured.err
    assert not captured.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "its CTAs are one wave, whose threads the simulator runs together"),
        (["--no-checks"], "without checks it is not known what CTAs read and write"),
    ],
)
def test_what_one_process_runs_needs_no_cluster(
    words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "k.ptx"
    file.write_text(KERNEL.replace("MORE", "").replace("2000", "2"))
    arguments: list[Any] = ["--grid", "2", "--block", "128", "--arg", "randn:256"]
    arguments += ["--arg", "zeros:256", "--scheduler", "tcp://127.0.0.1:1", *words]
    assert tile_run.main([str(file), *arguments]) == 0
    captured = capsys.readouterr()
    assert captured.err == f"remark: kernel 'k' is run in this process: {said}\n"
    assert "kernel k: completed" in captured.out
