"""`tile-tune` and `tilec.tune`: all is tried once, whatever dies, and refused with a reason."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tilec
from tilec.isa import TilecError
from tilec.runtime.cuda.timing import Timing
from tilec.tools import tile_tune
from tilec.tuning import load
from tilec.tuning.assess import RefusedError, _check_conflicts
from tilec.tuning.counting import Counts
from tilec.tuning.measure import timed
from tilec.tuning.problems import problem
from tilec.tuning.same_bits import has_bits_of_default
from tilec.tuning.store import Outcome, State, Store, StudyKey
from tilec.tuning.studies import Progress

EXAMPLES = Path(__file__).parents[3] / "examples"
ADD = '''\
import os
import signal

import tilec
import tilec.lang as tl


def grown(block):
    """What is done once more for each candidate: {note}."""
    return block


@tilec.tunable(
    {{"BLOCK": (32, 64, 128, 0), "warps": (1, 2)}},
    problem={{"n": 4096}},
    arguments={{"x": "f32[n]"}},
    grid="cdiv(n, BLOCK)",
)
@tilec.kernel(warps=1)
def double(x: tl.Array[tl.float32, int], BLOCK: tl.Constant[int] = 32) -> None:
    at = tl.program_id(0) * BLOCK
    tl.store(x, at, 2 * tl.load(x, at, BLOCK))
'''
SUM = """\
import tilec
import tilec.lang as tl


@tilec.tunable(
    {"BLOCK": (64, 128), "warps": (1, 2, 4)},
    problem={"n": 4096},
    arguments={"x": "f32[n]", "y": "f32[m]"},
    grid="1",
)
@tilec.kernel(warps=1)
def total(
    x: tl.Array[tl.float32, int], y: tl.Array[tl.float32, int], BLOCK: tl.Constant[int] = 64
) -> None:
    acc = tl.zeros((BLOCK,))
    for at in range(0, x.shape[0], BLOCK):
        acc += tl.load(x, at, BLOCK)
    tl.store(y, 0, tl.sum(acc, 0, keepdims=True))
"""


def declared(folder: Path) -> Path:
    file = folder / "double.py"
    file.write_text(ADD.format(note="nothing"))
    return file


def without_times(file: Path) -> dict[str, Any]:
    with Store(file) as store:
        found = store.export()
    for study in found["studies"]:
        del study["seconds"]
    return found


def test_all_candidates_are_ranked_and_remembered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, store = declared(tmp_path), tmp_path / "s.sqlite"
    command = ["run", str(file), "--target", "sm_80", "--problem", "n=960", "--store", str(store)]
    assert tile_tune.main([*command, "--pin", "warps=2", "--format", "json"]) == 0
    (said,) = json.loads(capsys.readouterr().out)
    assert said["ranked"] == 3
    assert said["refused"] == {"it does not compile": 1}
    best = said["best"][0]
    assert best["cost"] == min(one["cost"] for one in said["best"])
    (counts,) = (one["counts"] for one in said["best"] if one["candidate"]["BLOCK"] == 64)
    assert counts["sectors"] == 2 * 960 * 4 / 32
    before = without_times(store)
    started = time.monotonic()
    assert tile_tune.main([*command, "--pin", "warps=2"]) == 0
    assert time.monotonic() - started < 60
    text = capsys.readouterr().out
    assert "double, n=960, sm_80: 3 ranked" in text
    assert "  1 rejected: it does not compile, such as BLOCK=0 warps=2: double.py:" in text.replace(
        f"{tmp_path}/", ""
    )
    assert without_times(store) == before

    page = tmp_path / "page.html"
    assert tile_tune.main(["report", str(store), "-o", str(page)]) == 0
    html = page.read_text()
    assert "double, n = 960, sm_80" in html
    assert "it does not compile" in html
    assert tile_tune.main(["export", str(store)]) == 0
    assert json.loads(capsys.readouterr().out)["studies"][0]["key"]["sizes"] == {"n": 960}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "FILE", "--problem", "q=1"], "no size 'q'"),
        (["run", "FILE", "--pin", "WIDE=1"], "no parameter 'WIDE'"),
        (["run", "FILE", "--kernel", "triple"], "no tunable kernel 'triple'"),
        (["run", "FILE", "--target", "sm_1"], "sm_1"),
        (["run", "FILE", "--store", "FILE"], "not a database"),
        (["run", "none.py"], "no such file"),
        (["run", "FILE", "--measure", "2"], "no GPU of this machine runs sm_80"),
        (["report", "none.sqlite"], "no such file"),
    ],
)
def test_mistakes_are_one_error(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    said: str,
) -> None:
    monkeypatch.setattr("tilec.runtime.cuda.available", lambda _=None: False)
    file = declared(tmp_path)
    before = file.read_bytes()
    store = [] if "--store" in words or words[0] == "report" else ["--store", str(tmp_path / "s")]
    assert tile_tune.main([str(file) if one == "FILE" else one for one in words] + store) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert captured.err.count("error: ") == 1
    assert file.read_bytes() == before


@pytest.mark.slow
def test_a_killed_run_is_finished_by_the_next(tmp_path: Path) -> None:
    """Killed with SIGKILL again and again, it finds what an undisturbed run finds."""
    file, killed, whole = declared(tmp_path), tmp_path / "killed.sqlite", tmp_path / "whole.sqlite"
    command = [sys.executable, "-m", "tilec.tools.tile_tune", "run", str(file), "--target", "sm_80"]
    for number in range(3):
        process = subprocess.Popen(
            [*command, "--store", str(killed), "--jobs", "2"],
            stdout=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        wanted = number + 1
        while process.poll() is None and _known(killed) < wanted:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    before = without_times(killed)
    for jobs, store in (("2", killed), ("0", whole)):
        subprocess.run([*command, "--store", str(store), "--jobs", jobs], check=True)
    assert without_times(killed) == without_times(whole)
    kept = {json.dumps(one) for study in before["studies"] for one in study["trials"]}
    assert kept <= {json.dumps(t) for s in without_times(whole)["studies"] for t in s["trials"]}


def _known(file: Path) -> int:
    if not file.exists():
        return 0
    try:
        with Store(file) as store:
            return sum(len(store.tried(study)) for study in store.studies())
    except TilecError:
        return 0


@pytest.mark.slow
def test_a_candidate_that_ends_its_worker_is_refused_alone(tmp_path: Path) -> None:
    """A worker that dies while it compiles takes one candidate with it, and another comes."""
    file = tmp_path / "fatal.py"
    text = ADD.format(note="it may be fatal").replace(
        "    at = tl.program_id(0) * BLOCK\n",
        "    at = tl.program_id(0) * fatal(BLOCK)\n",
    )
    fatal = (
        "def fatal(block):\n    if block == 64:\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n    return block\n\n\n"
    )
    file.write_text(text.replace("@tilec.tunable(", f"{fatal}@tilec.tunable("))
    found = load(file).pinned({"warps": 1})
    (study,) = tilec.tune(found, targets=["sm_80"], workers=1)
    lost = [one for one in study.outcomes if one.detail == "SIGKILL"]
    assert [one.candidate["BLOCK"] for one in lost] == [64]
    assert study.refused["it crashes the compiler"] == 1
    assert len(study.outcomes) == 4
    assert study.best is not None


def test_same_bits_refuses_another_order_of_sums(tmp_path: Path) -> None:
    file = tmp_path / "total.py"
    file.write_text(SUM.replace('problem={"n": 4096}', 'problem={"n": 4096, "m": 1}'))
    found = load(file)
    small = problem("n=1024", found.sizes)
    assert has_bits_of_default(found, found.space.default, small, "sm_80")
    (study,) = tilec.tune(found.pinned({"warps": 1}), targets=["sm_80"], same_bits=small)
    states = {one.candidate["BLOCK"]: one for one in study.outcomes}
    assert states[64].state is State.RANKED
    assert states[128].state is State.REFUSED
    assert states[128].reason == "its results differ from the default's"


def test_times_of_a_gpu_stand_beside_the_model() -> None:
    """Milliseconds become seconds, and the fastest comes first, whatever the model said."""
    outcomes = [Outcome({"B": n}, State.RANKED, cost=n * 1e-6) for n in (1, 2)]
    times = [
        Timing(3.0, 2.5, 4.0, 25, (1900.0, 1950.0)),
        Timing(1.0, 1.0, 1.5, 25, (1900.0, 1900.0)),
    ]
    first, second = timed(outcomes, times)
    assert [first.candidate["B"], second.candidate["B"]] == [2, 1]
    assert second.measured == {
        "median": 3e-3, "least": 2.5e-3, "most": 4e-3, "rounds": 25,
        "clock_before": 1900.0, "clock_after": 1950.0,
    }  # fmt: skip


def test_what_fails_inside_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("a pass\nis wrong")

    monkeypatch.setattr("tilec.tuning.assess.count", fail)
    found = load(declared(tmp_path)).pinned({"BLOCK": 32, "warps": 1})
    (study,) = tilec.tune(found, targets=["sm_80"])
    (one,) = study.outcomes
    assert (one.reason, one.detail) == (
        "internal error of tilec",
        "AssertionError: a pass is wrong",
    )


def test_all_are_timed_in_turns_with_the_fastest_so_far(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was timed is not timed again, but for the one that others are compared with."""
    turns: list[list[int]] = []
    clock = {32: 3.0, 64: 1.0, 128: 2.0}

    def measure(_: object, outcomes: list[Outcome]) -> list[Outcome]:
        turns.append([one.candidate["BLOCK"] for one in outcomes])
        return [
            replace(one, measured={"median": clock[one.candidate["BLOCK"]]}) for one in outcomes
        ]

    monkeypatch.setattr("tilec.tuning.studies.measure", measure)
    monkeypatch.setattr("tilec.tuning.studies.device_of", lambda _: "a GPU of a test")
    found = load(declared(tmp_path)).pinned({"warps": 1})
    how: dict[str, Any] = {"targets": ["sm_80"], "measured": 2, "store": tmp_path / "s"}
    (study,) = tilec.tune(found, strategy="exhaustive", **how)
    assert [one.candidate["BLOCK"] for one in study.outcomes] == [64, 128, 32]
    first, second = turns
    assert len(first) == 2
    fastest = min(first, key=lambda block: clock[block])
    assert sorted({*first, *second}) == [32, 64, 128]
    assert second[1:] == [fastest]
    assert tilec.tune(found, strategy="exhaustive", **how) == [study]
    assert len(turns) == 2


def test_progress_has_rates_and_the_best_and_what_was_lost(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = StudyKey("gemm", "", {}, {}, "sm_80", "model", {})
    best = Outcome({"B": 1}, State.RANKED, cost=2.5e-6)
    link = "http://127.0.0.1:8787/status"
    for terminal in (False, True):
        monkeypatch.setattr("sys.stderr.isatty", lambda terminal=terminal: terminal)
        shown = tile_tune._Shown()
        shown(Progress(key, 0, 9, 0.0, None, link))
        shown(Progress(key, 3, 9, 1.5, best, link, {"died": 1}))
        shown(Progress(key, 9, 9, 2.0, best, link, {"died": 1}))
        said = capsys.readouterr().err
        lines = [line.rpartition("\033[K")[2] for line in said.split("\n")]
        assert f"dashboard: {link}" in lines
        assert lines.count("a worker died; what it was at is tried elsewhere") == 1
        assert ("sm_80: 9/9, 2.0 a second, best 2.5 µs" in said) is terminal


def test_a_run_that_fails_gives_back_what_it_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same process goes on with the same store."""
    found = load(declared(tmp_path)).pinned({"warps": 1})

    def fail(progress: Progress) -> None:
        if progress.rate:
            raise KeyboardInterrupt

    with Store(":memory:") as store:
        with pytest.raises(KeyboardInterrupt):
            tilec.tune(found, targets=["sm_80"], store=store, progress=fail)
        (study,) = store.studies()
        assert store.claimed(study) == 0
        assert len(store.tried(study)) == 1
        (whole,) = tilec.tune(found, targets=["sm_80"], store=store)
        assert len(whole.outcomes) == 4


@pytest.mark.slow
def test_clusters_stages_and_the_order_of_tiles_are_searched(tmp_path: Path) -> None:
    """By a template; the model sees what each changes, where another unit takes longest, too."""
    text = (EXAMPLES / "hopper" / "tiles.mlir").read_text()
    threads, end = "known_block_size = array<i32: 256, 1, 1>", "      scf.yield %next : !Sum\n    }"
    for found, made in (
        (
            threads,
            f"{threads}, tile.cluster = array<i64: 1, ${{C}}, 1>, tile.rasterize = ${{R}} : i64",
        ),
        (end, f"{end} {{tile.stages = ${{S}} : i64}}"),
    ):
        assert text.count(found) == 1
        text = text.replace(found, made)
    (tmp_path / "tiles.mlir.in").write_text(text)
    declared = {
        "template": "tiles.mlir.in",
        "kernel": "gemm_tiles",
        "parameters": {"C": [1, 2], "R": [1, 16], "S": [2, 3]},
        "problem": {"m": 8192, "n": 8192, "k": 8192},
        "arguments": {"a": "f16[m, k]", "b": "f16[n, k]", "c": "f16[m, n]"},
        "grid": "cdiv(n, 256), cdiv(m, 128)",
    }
    (tmp_path / "tiles.json").write_text(json.dumps(declared))
    (study,) = tilec.tune(load(tmp_path / "tiles.json"), targets=["sm_90a"])
    assert len(study.ranked) == 8
    counts = {tuple(one.candidate.values()): one.counts for one in study.outcomes}
    loaded = 2 * 8192**3 * (1 / 128 + 1 / 256)
    stored = 2 * 8192**2
    assert counts[1, 1, 2]["asked"] == pytest.approx(loaded + stored, rel=0.01)
    # Pairs of CTAs load B together: half of the columns each.
    pairs = 2 * 8192**3 * (1 / 256 + 1 / 256)
    assert counts[2, 1, 2]["asked"] == pytest.approx(pairs + stored, rel=0.01)
    # A third stage of 128x64 of A and 64x256 of B.
    stage = (128 + 256) * 64 * 2
    assert counts[1, 1, 3]["in_flight"] - counts[1, 1, 2]["in_flight"] == stage
    # 132 tiles at a time: 32 columns of four rows and more, or 16 rows of eight columns and more.
    assert counts[1, 16, 2]["distinct"] < 0.6 * counts[1, 1, 2]["distinct"]
    assert study.best is not None
    assert (study.best.candidate["C"], study.best.candidate["R"]) == (2, 16)


@pytest.mark.parametrize(("operands", "refused"), [(0, True), (100 * 128, False)])
def test_conflicts_of_what_a_kernel_does_once_are_no_reason(operands: int, refused: bool) -> None:
    """60 of 100 passes of a loop's threads are; 60 of 200 are not, where products read the rest."""
    found = Counts(wavefronts=100, conflicts=60, operand_bytes=operands)
    if refused:
        with pytest.raises(RefusedError, match="bank conflicts"):
            _check_conflicts(found)
    else:
        _check_conflicts(found)
