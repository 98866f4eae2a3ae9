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
import time as _time
_quick, _clock, _late = compile, _time.perf_counter, 0
_time.perf_counter = lambda: _clock() + _late
def compile(*args, **options):
    global _late
    _late += 100
    return _quick(*args, **options)
"""
"""A compilation during which the clock is put forward by so many seconds."""


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
    assert "'/no/such/python' is not a program" in done.stderr


def test_against_another_checkout(tmp_path: Path) -> None:
    """The other one is what is timed, though another tilec is installed: here by a clock."""
    other = tmp_path / "other"
    # What other tests write meanwhile is none of it.
    written = ("*.egg-info", "__pycache__", ".hypothesis", ".*_cache")
    ignored = shutil.ignore_patterns(".git", ".venv", "results", *written)
    shutil.copytree(SCRIPT.parents[1], other, symlinks=True, ignore=ignored)
    driver = other / "compiler" / "driver.py"
    driver.write_text(driver.read_text() + SLOW)
    done = run("--json", "--rounds", "2", "--kernel", "attention", "--against", str(other))
    result = json.loads(done.stdout)
    assert result["against"] == str(other)
    warm = result["tilec"]["warm"]
    assert warm["theirs"] > 100 > warm["ours"]
    assert warm["quartiles"][0] <= warm["ratio"] <= warm["quartiles"][1] < 0.9
    assert min(result["stages"]["LLVM to PTX"]) > 0
    if sys.platform == "linux":
        assert 0.2 < warm["cpu_ratio"] < 5  # which is not work of the CPU's


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
