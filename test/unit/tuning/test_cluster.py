"""Tuning on a Dask cluster: scheduler and workers are processes; some die, some stop."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
import tilec
from tilec.isa import TilecError
from tilec.tools import tile_tune
from tilec.tuning import load
from tilec.tuning.connection import Connection, Tls, address_of
from tilec.tuning.jobs import Jobs
from tilec.tuning.store import Store
from tilec.tuning.studies import Progress

from .dask_processes import Started, certificates

KERNEL = """\
import os
import signal
import time

import tilec
import tilec.lang as tl


def placed(block: int) -> int:
    {note}
    return block


@tilec.tunable(
    {{"BLOCK": (32, 64, 128, 256, 0), "warps": (1, 2)}},
    problem={{"n": 4096}},
    arguments={{"x": "f32[n]"}},
    grid="cdiv(n, BLOCK)",
)
@tilec.kernel(warps=1)
def double(x: tl.Array[tl.float32, int], BLOCK: tl.Constant[int] = 32) -> None:
    at = tl.program_id(0) * placed(BLOCK)
    tl.store(x, at, 2 * tl.load(x, at, BLOCK))
"""
OTHER_TILEC = """\
import tilec.tuning.store.keys as keys

mine = dict(keys.versions())
import tilec.tuning.elsewhere as elsewhere

elsewhere.versions = lambda: {**mine, "code": "other"}
"""
OTHER_GPU = """\
import os
from dataclasses import replace
from pathlib import Path

import tilec.tuning.elsewhere as elsewhere

elsewhere.device_of = lambda target: "a GPU of a test"


def measure(task, outcomes):
    lost = Path(os.environ["LOST"])
    if not lost.exists():
        lost.write_text("once")
        raise RuntimeError("CUDA_ERROR_DEVICE_UNAVAILABLE")
    return [replace(one, measured={"median": 1.0 * one.candidate["BLOCK"]}) for one in outcomes]


elsewhere.measure = measure
"""


def declared(folder: Path, note: str = "pass") -> Path:
    file = folder / "double.py"
    file.write_text(KERNEL.format(note=note))
    return file


def without_times(store: Store) -> dict[str, Any]:
    found = store.export()
    for study in found["studies"]:
        del study["seconds"]
    return found


def test_a_worker_leaves_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dask's answers overtake each other: one that is out of date still has who has left."""

    def seen(**workers: float) -> dict[str, dict[str, float]]:
        return {name: {"last_seen": at, "nthreads": 1} for name, at in workers.items()}

    class Answers:
        is_lost, name = False, "answers"

        def __init__(self) -> None:
            self.next: list[dict[str, dict[str, float]]] = []

        def workers(self) -> dict[str, dict[str, float]]:
            return self.next.pop(0)

    monkeypatch.setattr("tilec.tuning.jobs._PERIOD", 0.0)
    answers = Answers()
    jobs = Jobs(cast("Connection", answers))
    answers.next = [
        seen(a=1.0, b=1.0), seen(b=2.0), seen(a=1.2, b=1.3), seen(b=3.0), seen(a=1.4, b=1.4),
        seen(a=4.0, b=4.0), seen(b=5.0),
    ]  # fmt: skip
    heard = [sorted(jobs.workers) for _ in range(7)]
    assert heard == [["a", "b"], ["b"], ["b"], ["b"], ["b"], ["a", "b"], ["b"]]
    assert jobs.lost == {"died": 2}


@pytest.mark.slow
def test_a_cluster_finds_what_one_process_finds(
    tmp_path: Path, started: Callable[..., Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three workers one is killed and one is stopped while they work."""
    # On a busy machine a worker that is well may be silent for some seconds.
    monkeypatch.setattr("tilec.tuning.jobs.SILENCE", 12.0)
    cluster = started()
    workers = [cluster.worker() for _ in range(3)]
    cluster.wait_for_workers(3)
    file = declared(tmp_path, "time.sleep(0.3)")
    lost: dict[str, int] = {}
    after = [(2, workers[0], signal.SIGKILL), (3, workers[1], signal.SIGSTOP)]

    def hurt(progress: Progress) -> None:
        while after and progress.done >= after[0][0]:
            _, worker, how = after.pop(0)
            worker.send_signal(how)
        lost.update(progress.lost)

    exports = []
    for how in ({"scheduler": cluster.address, "progress": hurt}, {}):
        with Store(":memory:") as store:
            (study,) = tilec.tune(load(file), targets=["sm_80"], store=store, **how)
            exports.append(without_times(store))
    assert workers[0].wait() == -signal.SIGKILL
    assert workers[1].poll() is None
    # Who was silent before it died counts as given up.
    assert lost.get("died", 0) + lost.get("was given up", 0) == 1
    assert lost["stopped answering"] >= 1
    assert exports[0] == exports[1]
    assert study.refused == {"it does not compile": 2}


@pytest.mark.slow
def test_what_ends_or_stops_the_compiler_is_refused_alone(
    tmp_path: Path, started: Callable[..., Started]
) -> None:
    """Workers are none the worse for it, and the reasons are those of this machine's workers."""
    cluster = started()
    worker = cluster.worker()
    note = (
        "if block == 64:\n        os.kill(os.getpid(), signal.SIGKILL)\n"
        "    if block == 128:\n        time.sleep(300)"
    )
    found = load(declared(tmp_path, note)).pinned({"warps": 1})
    exports = []
    for how in ({"scheduler": cluster.address}, {"workers": 1}):
        with Store(":memory:") as store:
            (study,) = tilec.tune(found, targets=["sm_80"], patience=40, store=store, **how)
            exports.append(without_times(store))
    assert exports[0] == exports[1]
    ended = {o.candidate["BLOCK"]: o.detail for o in study.outcomes if "compiler" in o.reason}
    assert ended == {64: "SIGKILL", 128: "more than 40 s"}
    assert worker.poll() is None


@pytest.mark.slow
def test_a_worker_that_loses_its_gpu_is_left_for_another(
    tmp_path: Path, started: Callable[..., Started]
) -> None:
    cluster = started()
    cluster.worker()
    (tmp_path / "gpu.py").write_text(OTHER_GPU)
    found = load(declared(tmp_path)).pinned({"warps": 1})
    with pytest.raises(TilecError, match="no worker with the resource GPU has one that runs sm_80"):
        tilec.tune(found, targets=["sm_80"], scheduler=cluster.address, measured=2)
    options = ["--resources", "GPU=1", "--preload", str(tmp_path / "gpu.py")]
    for _ in range(2):
        cluster.worker(*options, LOST=str(tmp_path / "lost"))
    cluster.wait_for_workers(3)
    with Store(":memory:") as store:
        how: dict[str, Any] = {"scheduler": cluster.address, "store": store, "targets": ["sm_80"]}
        (study,) = tilec.tune(found, measured=2, **how)
        assert (tmp_path / "lost").exists()
        assert study.key.device == "a GPU of a test"
        assert len(study.outcomes) == 2
        assert all(one.measured for one in study.outcomes)
        (every,) = tilec.tune(found, measured=2, strategy="exhaustive", **how)
        assert [(one.measured or {})["median"] for one in every.outcomes] == [32, 64, 128, 256]


@pytest.mark.slow
def test_a_worker_with_another_tilec_is_one_error(
    tmp_path: Path, started: Callable[..., Started], capsys: pytest.CaptureFixture[str]
) -> None:
    cluster = started()
    (tmp_path / "other.py").write_text(OTHER_TILEC)
    cluster.worker("--preload", str(tmp_path / "other.py"))
    store = tmp_path / "s"
    words = ["run", str(declared(tmp_path)), "--store", str(store), "--scheduler", cluster.address]
    assert tile_tune.main(words) == 1
    captured = capsys.readouterr()
    assert captured.err.count("error: ") == 1
    assert f"scheduler {cluster.address}: worker tcp://127.0.0.1:" in captured.err
    assert "it has code other where the client has" in captured.err
    with Store(store) as opened:
        assert opened.studies() == {}


@pytest.mark.slow
def test_a_scheduler_that_dies_is_one_error_and_the_store_goes_on(
    tmp_path: Path, started: Callable[..., Started]
) -> None:
    cluster = started()
    cluster.worker()
    found = load(declared(tmp_path, "time.sleep(0.2)"))

    def kill(progress: Progress) -> None:
        if progress.done == 3 and progress.rate:
            cluster.processes[0].kill()

    with Store(tmp_path / "s") as store:
        with pytest.raises(TilecError, match="the connection is lost"):
            tilec.tune(
                found, targets=["sm_80"], scheduler=cluster.address, store=store, progress=kill
            )
        (study,) = store.studies()
        assert 3 <= len(store.tried(study)) < 10
        (after,) = tilec.tune(found, targets=["sm_80"], store=store)
        (whole,) = tilec.tune(found, targets=["sm_80"])
        assert [one.result() for one in after.outcomes] == [one.result() for one in whole.outcomes]


@pytest.mark.slow
def test_only_peers_with_a_certificate_of_the_authority_are_spoken_to(
    tmp_path: Path, started: Callable[..., Started], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tilec.tuning.connection.CONNECT", 5.0)
    mine, others = certificates(tmp_path, "mine"), certificates(tmp_path, "others")
    cluster = started(["--tls-ca-file", mine.ca, "--tls-cert", mine.cert, "--tls-key", mine.key])
    cluster.worker()
    assert cluster.address.startswith("tls://")
    found = load(declared(tmp_path)).pinned({"warps": 1, "BLOCK": 64})
    (study,) = tilec.tune(found, targets=["sm_80"], scheduler=cluster.address, tls=mine)
    assert len(study.ranked) == 1
    plain = cluster.address.replace("tls", "tcp")
    for how in ({"tls": others, "scheduler": cluster.address}, {"scheduler": plain}):
        with pytest.raises(TilecError, match=f"scheduler {how['scheduler']}: "):
            tilec.tune(found, targets=["sm_80"], **how)
    (own,) = tilec.tune(found, targets=["sm_80"], scheduler="", workers=1, tls=mine)
    assert own.outcomes[0].result() == study.outcomes[0].result()


@pytest.mark.slow
def test_a_cluster_of_this_machine_is_this_process_s_alone() -> None:
    """It has certificates of its own, and others, in the clear and by TLS, are not spoken to."""
    distributed = pytest.importorskip("distributed")
    pytest.importorskip("cryptography", reason="no cryptography, which makes certificates")
    connection = Connection("", 1, None, 30.0)
    try:
        address = str(connection.client.scheduler.address)
        assert address.startswith("tls://127.0.0.1:")
        assert connection.client.submit(sum, (1, 2)).result() == 3
        assert all(worker.startswith("tls://127.0.0.1:") for worker in connection.workers())
        for at, how in (
            (address.replace("tls", "tcp"), None),
            (address, distributed.Security.temporary()),
        ):
            with pytest.raises((OSError, TimeoutError)):
                distributed.Client(at, security=how, timeout=3, set_as_default=False)
    finally:
        connection.close()


TLS = Tls("ca.pem", "cert.pem")


@pytest.mark.parametrize(
    ("given", "tls", "address"),
    [
        ("tcp://127.0.0.1:8786", None, "tcp://127.0.0.1:8786"),
        ("localhost:8786", None, "tcp://localhost:8786"),
        ("tcp://[::1]:8786", None, "tcp://[::1]:8786"),
        ("10.0.0.1:8786", TLS, "tls://10.0.0.1:8786"),
        ("tls://head.example:8786", None, "tls://head.example:8786"),
    ],
)
def test_addresses_that_are_spoken_to(given: str, tls: Tls | None, address: str) -> None:
    assert address_of(given, tls) == address


@pytest.mark.parametrize(
    ("given", "tls", "said"),
    [
        ("tcp://10.0.0.1:8786", None, "not on this machine"),
        ("head.example:8786", None, r"legal: tls://head\.example:8786 with --tls-ca"),
        ("tcp://127.0.0.2.example:1", None, "not on this machine"),
        ("tcp://127.0.0.1:8786", TLS, "certificates are for an address of tls://"),
        ("ucx://127.0.0.1:8786", None, "protocol 'ucx'; legal: tcp and tls"),
        ("tcp://127.0.0.1", None, "is not an address"),
        ("tcp://127.0.0.1:99999", None, "is not an address"),
        ("", TLS, "is not an address"),
    ],
)
def test_addresses_that_are_refused(given: str, tls: Tls | None, said: str) -> None:
    with pytest.raises(TilecError, match=said):
        address_of(given, tls)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--scheduler", "tcp://127.0.0.1:1"], "scheduler tcp://127.0.0.1:1: "),
        (["--scheduler", "tcp://10.1.2.3:8786"], "is not on this machine"),
        (["--scheduler", "tls://10.1.2.3:8786"], "name its certificates"),
        (
            ["--scheduler", "tls://10.1.2.3:1", "--tls-ca", "none.pem", "--tls-cert", "c.pem"],
            "certificate none.pem: there is no such file",
        ),
        (
            ["--scheduler", "tls://10.1.2.3:1", "--tls-ca", "KERNEL", "--tls-cert", "KERNEL"],
            "certificates KERNEL, KERNEL: ",
        ),
        (["--tls-cert", "none.pem"], "--tls-ca and --tls-cert go together"),
        (["--tls-ca", "a.pem", "--tls-cert", "b.pem"], "certificates are for a scheduler"),
    ],
)
def test_schedulers_that_cannot_be_are_one_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("tilec.tuning.connection.CONNECT", 0.3)
    file = str(declared(tmp_path))
    words = [file if one == "KERNEL" else one for one in words]
    assert tile_tune.main(["run", file, "--store", str(tmp_path / "s"), *words]) == 1
    captured = capsys.readouterr()
    assert said.replace("KERNEL", file) in captured.err
    assert captured.err.count("error: ") == 1


def test_without_dask_a_scheduler_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    file = declared(tmp_path)
    words = ["run", str(file), "--store", str(tmp_path / "s"), "--scheduler", "tcp://127.0.0.1:1"]
    assert tile_tune.main(words) == 1
    assert capsys.readouterr().err.count("--scheduler needs Dask") == 1
