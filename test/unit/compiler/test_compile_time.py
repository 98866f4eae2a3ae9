"""The benchmark of compile times runs, with and without Triton beside it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "compile_time.py"


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


@pytest.mark.slow
def test_beside_triton() -> None:
    pytest.importorskip("triton")
    result = json.loads(run("--json", "--rounds", "1").stdout)
    assert result["triton"]["mma"] == 64
    assert min(result["warm_ratio"], result["cold_ratio"], result["triton"]["cached"]) > 0
