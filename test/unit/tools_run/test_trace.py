"""`tile-run --trace`: a timeline in cycles, by the timing model, labelled an estimate."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from .test_timeline import ARGUMENTS, GEMM, PTX, run

EXAMPLES = Path(GEMM).parent
LAUNCHES = {
    "gemm": ("gemm.mlir", ARGUMENTS),
    "softmax": (
        "kernels/softmax.mlir",
        ["--device", "sim", "--grid", "64", "--arg", "randn:64x1000", "--arg", "zeros:64x1000"],
    ),
    "hopper": (
        "hopper/gemm.mlir",
        ["--device", "sim", "--grid", "1,1", "--arg", "randn:128x512:f16",
         "--arg", "randn:256x512:f16", "--arg", "zeros:128x256:f16"],
    ),
    "cluster": (
        "hopper/gemm_cluster.mlir",
        ["--device", "sim", "--grid", "2,1", "--arg", "randn:256x512:f16",
         "--arg", "randn:256x512:f16", "--arg", "zeros:256x256:f16"],
    ),
    "tensor memory": (
        "kernels/gemm.mlir",
        ["--device", "sim", "--arch", "sm_100a", "--grid", "2,2", "--arg", "randn:256x512:f16",
         "--arg", "randn:512x256:f16", "--arg", "zeros:256x256:f32"],
    ),
}  # fmt: skip
_QUICK = ("gemm", "softmax", "hopper")


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in _QUICK else pytest.mark.slow) for n in LAUNCHES],
)
def test_it_agrees_with_the_estimate(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Latencies against sums: times are within a factor of 4, cycles that parts are busy of 1.5."""
    file, arguments = LAUNCHES[name]
    path = tmp_path / "t.json"
    flags = [*arguments, "--estimate", "--report", "json", "--trace", path]
    assert run(EXAMPLES / file, *flags) == 0
    said = json.loads(capsys.readouterr().out)
    bound, schedule = said["estimate"], said["schedule"]
    assert schedule["kind"] == bound["kind"] == "estimate"
    assert not schedule["stuck"]
    assert bound["seconds"] / 4 <= schedule["seconds"] <= 4 * bound["seconds"]
    for part in ("tensor", "shared"):
        mine = schedule["busy"][part] * schedule["seconds"]
        its = bound["shares"][part] * bound["seconds"]
        if its > 0.2 * bound["seconds"]:
            assert its / 1.5 <= mine <= 1.5 * its, part
    trace = json.loads(path.read_text())
    assert trace["otherData"]["cycles"] == schedule["cycles"]
    assert {e["ph"] for e in trace["traceEvents"]} == {"M", "X"}
    assert any(event["args"].get("source", "").endswith("9") for event in trace["traceEvents"])


def test_the_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.json"
    assert run(GEMM, *ARGUMENTS, "--trace", path, "--cta", "0,1") == 0
    said = capsys.readouterr().out
    assert "estimate for one" not in said
    assert re.search(
        r"timing model of one A100 \(first order, an estimate, not measured\): [\d,]+ cycles, "
        r"[\d.]+ us\n  .*tensor pipe \d+%.*; 1 wave of 2 CTAs, 1 on an SM at once",
        said,
    )
    assert path.exists()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--no-checks"], "--trace records what the checks see: without --no-checks"),
        (["--every-order"], "--trace and --every-order exclude each other"),
        (["--device", "cuda"], "--trace is only for the simulator"),
        (["--scheduler", "local"], "--trace shows a launch that one process runs"),
        (["--cta", "7,7"], "the grid has"),
        (["--timeline", "t.json"], "is the name of two outputs"),
    ],
)
def test_mistakes(
    flags: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert run(GEMM, *ARGUMENTS, "--trace", "t.json", *flags) != 0
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_launch_that_does_not_end_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel, path = tmp_path / "k.ptx", tmp_path / "t.json"
    kernel.write_text(PTX.replace("{ ret; }", "{ trap; }"))
    assert run(kernel, "--block", "32", "--device", "sim", "--trace", path) == 1
    said = capsys.readouterr()
    assert "warning: --trace: the launch did not come to its end" in said.err
    assert "trap" in said.out
    assert not path.exists()


def test_it_is_of_one_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problems = tmp_path / "p.txt"
    problems.write_text("--grid 1\n")
    assert run(GEMM, "--problems", problems, "--trace", tmp_path / "t.json") == 1
    assert "--trace shows one launch: without --problems" in capsys.readouterr().err
