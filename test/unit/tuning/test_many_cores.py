"""A cluster of this machine that nobody asked for, on machines whose cores are faked."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn

import pytest
from tilec.isa import TilecError
from tilec.tools import tile_tune
from tilec.tuning import cores, load, studies
from tilec.tuning.pool import Pool

pytest.importorskip("distributed")
pytest.importorskip("cryptography", reason="no cryptography, which makes certificates")
system = pytest.importorskip("dask.system")

KERNEL = """\
import tilec
import tilec.lang as tl


@tilec.tunable(
    {"BLOCK": (32, 64, 128, 256), "warps": (1, 2, 4), "opt_level": (0, 1, 2)},
    problem={"n": 4096},
    arguments={"x": "f32[n]"},
    grid="cdiv(n, BLOCK)",
)
@tilec.kernel(warps=1)
def double(x: tl.Array[tl.float32, int], BLOCK: tl.Constant[int] = 32) -> None:
    at = tl.program_id(0) * BLOCK
    tl.store(x, at, 2 * tl.load(x, at, BLOCK))
"""


def have(monkeypatch: pytest.MonkeyPatch, number: int, quota: int = 1000) -> None:
    """A machine of so many cores, of which a cgroup leaves so many."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(number)), raising=False)
    monkeypatch.setattr("os.process_cpu_count", lambda: number, raising=False)
    monkeypatch.setattr(system, "psutil", None)
    monkeypatch.setattr(system, "_try_extract_cgroup_cpu_quota", lambda: (quota, 1))


@pytest.mark.parametrize(
    ("number", "quota", "candidates", "processes"),
    [
        (1, 1000, 1000, 0),
        (7, 1000, 1000, 0),
        (8, 1000, 32, 8),
        (8, 1000, 31, 0),
        (96, 1000, 384, 96),
        (96, 2, 1000, 0),
        (96, 16, 64, 16),
    ],
)
def test_what_counts_as_many(
    number: int, quota: int, candidates: int, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    have(monkeypatch, number, quota)
    assert cores.many_cores(candidates) == processes
    for name in ("distributed", "cryptography"):
        with monkeypatch.context() as without:
            without.setitem(sys.modules, name, None)
            assert cores.many_cores(candidates) == 0


@pytest.mark.parametrize(
    ("words", "number", "started"),
    [
        ([], 8, ("", 8)),
        ([], 2, (None, 0)),
        (["--pin", "warps=1"], 8, (None, 0)),
        (["--strategy", "optuna", "--trials", "20"], 8, (None, 0)),
        (["--jobs", "0"], 8, (None, 0)),
        (["--jobs", "3"], 8, (None, 3)),
        (["--scheduler", "local"], 3, ("", 3)),
        (["--scheduler", "local", "--jobs", "2"], 8, ("", 2)),
        (["--scheduler", "tcp://127.0.0.1:1"], 8, ("tcp://127.0.0.1:1", 8)),
        (["--tls-ca", "a.pem", "--tls-cert", "b.pem"], 8, (None, 0)),
    ],
)
def test_what_starts_a_cluster(
    words: list[str],
    number: int,
    started: tuple[str | None, int],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Flags say otherwise, and it is not worth its while for a few candidates."""
    if "optuna" in words:
        pytest.importorskip("optuna", reason="no Optuna")
    have(monkeypatch, number)
    (tmp_path / "double.py").write_text(KERNEL)
    seen: list[tuple[str | None, int]] = []

    def pool(_tunable: object, workers: int, scheduler: str | None, *_: object) -> NoReturn:
        seen.append((scheduler, workers))
        raise TilecError("as far as here")

    monkeypatch.setattr(studies, "_pool", pool)
    given = ["run", str(tmp_path / "double.py"), "--store", str(tmp_path / "s")]
    assert tile_tune.main([*given, *words]) == 1
    assert capsys.readouterr().err == "error: as far as here\n"
    assert seen == [started]


def test_a_gpu_is_this_process_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was compiled on a cluster that nobody asked for is timed here."""
    have(monkeypatch, 8)
    (tmp_path / "double.py").write_text(KERNEL)
    monkeypatch.setattr(studies, "_pool", lambda *_: nullcontext("a cluster"))
    with studies._places(load(tmp_path / "double.py"), None, None, None, 1.0, 32) as places:
        compiling, timing = places
        assert str(compiling) == "a cluster"
        assert isinstance(timing, Pool)
        assert timing.size == 0


@pytest.mark.slow
def test_it_finds_what_one_process_finds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The cluster is real, of two processes. What it found is not tried again, nor it started."""
    have(monkeypatch, 2)
    monkeypatch.setattr(cores, "MANY", 2)
    (tmp_path / "double.py").write_text(KERNEL)
    said = []
    for store, words in (("a", []), ("a", []), ("b", ["--jobs", "0"])):
        given = ["run", str(tmp_path / "double.py"), "--store", str(tmp_path / store)]
        assert tile_tune.main([*given, *words]) == 0
        said.append(capsys.readouterr())
    assert [one.err.startswith("dashboard: ") for one in said] == [True, False, False]
    assert said[0].out == said[1].out == said[2].out
