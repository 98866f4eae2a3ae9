"""Tuning on a Dask cluster: scheduler and workers are processes, one of which dies."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import tilec
from tilec.isa import TilecError
from tilec.tools import tile_tune
from tilec.tuning import load
from tilec.tuning.store import Store
from tilec.tuning.studies import Progress

KERNEL = """\
import tilec
import tilec.lang as tl


@tilec.tunable(
    {"BLOCK": (32, 64, 128, 0), "warps": (1, 2)},
    problem={"n": 4096},
    arguments={"x": "f32[n]"},
    grid="cdiv(n, BLOCK)",
)
@tilec.kernel(warps=1)
def double(x: tl.Array[tl.float32, int], BLOCK: tl.Constant[int] = 32) -> None:
    at = tl.program_id(0) * BLOCK
    tl.store(x, at, 2 * tl.load(x, at, BLOCK))
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and two workers."""
    pytest.importorskip("distributed")
    file = tmp_path / "scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1"]
    options = ["--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    quiet = subprocess.DEVNULL
    processes = [subprocess.Popen([*command, *options], stderr=quiet)]
    try:
        while not file.exists() or not file.read_text().endswith("}"):
            assert processes[0].poll() is None
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1"]
        options = ["--no-nanny", "--no-dashboard", "--local-directory", str(tmp_path)]
        processes += [subprocess.Popen([*command, *options], stderr=quiet) for _ in range(2)]
        yield address, processes[1:]
    finally:
        for one in processes:
            one.kill()
            one.wait()


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(
    tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, workers = cluster
    file = tmp_path / "double.py"
    file.write_text(KERNEL)

    def kill_one(progress: Progress) -> None:
        if progress.done == 2:
            workers[0].kill()

    exports = []
    for how in ({"scheduler": address, "progress": kill_one}, {}):
        with Store(":memory:") as store:
            tilec.tune(load(file), targets=["sm_80"], store=store, **how)
            exports.append(store.export())
        for study in exports[-1]["studies"]:
            del study["seconds"]
    assert workers[0].wait() != 0
    assert exports[0] == exports[1]


def test_a_scheduler_that_is_not_there_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    file = tmp_path / "double.py"
    file.write_text(KERNEL)
    words = ["run", str(file), "--store", str(tmp_path / "s"), "--scheduler", "tcp://127.0.0.1:1"]
    assert tile_tune.main(words) == 1
    assert capsys.readouterr().err.count("--scheduler needs Dask") == 1


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_one_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tilec.tuning.cluster._CONNECT", "1s")
    file = tmp_path / "double.py"
    file.write_text(KERNEL)
    with pytest.raises(TilecError, match=r"scheduler tcp://127\.0\.0\.1:1: "):
        tilec.tune(load(file), targets=["sm_80"], scheduler="tcp://127.0.0.1:1")
