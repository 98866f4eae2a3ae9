"""The benchmark of compile times runs, with and without Triton beside it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "compile_time.py"
SLOW = """
_quick = compile
def compile(*args, **options):
    __import__("time").sleep(0.5)
    return _quick(*args, **options)
"""


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SCRIPT), *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_one_object(tmp_path: Path) -> None:
    """An interpreter whose Triton cannot be imported stands for one without it."""
    (tmp_path / "triton.py").write_text("raise ImportError('not here')\n")
    done = run("--json", "--rounds", "1", PYTHONPATH=str(tmp_path))
    result = json.loads(done.stdout)
    assert (result["kernel"], result["level"]) == ("gemm", 1)
    assert result["tilec"]["mma"] == 64
    assert min(result["tilec"][kind] for kind in ("warm", "cold", "cached")) > 0
    assert result["warm_ratio"] is None
    assert {"parse", "LLVM to PTX"} <= set(result["stages"])


def test_no_such_interpreter() -> None:
    done = run("--triton-python", "/no/such/python")
    assert done.returncode == 2
    assert "'/no/such/python' is no program" in done.stderr


def test_against_another_checkout(tmp_path: Path) -> None:
    """The other one is what is timed, though another tilec is installed: here it waits."""
    other = tmp_path / "other"
    ignored = shutil.ignore_patterns(".git", ".venv", "*.egg-info", "__pycache__", "results")
    shutil.copytree(SCRIPT.parents[1], other, ignore=ignored)
    driver = other / "compiler" / "driver.py"
    driver.write_text(driver.read_text() + SLOW)
    done = run("--json", "--rounds", "2", "--kernel", "attention", "--against", str(other))
    result = json.loads(done.stdout)
    assert result["against"] == str(other)
    warm = result["tilec"]["warm"]
    assert warm["theirs"] - warm["ours"] > 0.3
    assert warm["quartiles"][0] <= warm["ratio"] <= warm["quartiles"][1] < 0.9
    assert min(result["stages"]["LLVM to PTX"]) > 0
    if sys.platform == "linux":
        assert 0.5 < warm["cpu_ratio"] < 2  # waiting takes no CPU


def test_against_nothing() -> None:
    done = run("--against", "no-such-revision")
    assert done.returncode == 2
    assert "'no-such-revision' is neither a checkout of tilec nor a revision" in done.stderr


@pytest.mark.slow
def test_beside_triton() -> None:
    pytest.importorskip("triton")
    result = json.loads(run("--json", "--rounds", "1").stdout)
    assert result["triton"]["mma"] == 64
    assert min(result["warm_ratio"], result["cold_ratio"], result["triton"]["cached"]) > 0
