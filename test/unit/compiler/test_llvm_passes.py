"""The passes that code generation leaves out are worth next to nothing, as ptxas sees it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tilec.backend.cubin import tools

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "llvm_passes.py"


@pytest.mark.skipif(not tools("ptxas") or not tools("nvdisasm"), reason="no ptxas or nvdisasm")
@pytest.mark.parametrize(
    ("files", "least"), [("*_gemm.mlir", 4), pytest.param("*.mlir", 10, marks=pytest.mark.slow)]
)
def test_what_is_left_out_is_not_missed(files: str, least: int) -> None:
    done = subprocess.run(
        [
            *(sys.executable, str(SCRIPT), "--target", "sm_75", "--rounds", "1", "--json"),
            *("--files", files),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout)
    every, ours = result["ways"]
    assert result["modules"] >= least
    assert every["without"] == []
    assert "early-cse" in ours["without"]
    for what in ("sass", "sass_loops", "registers"):
        assert every[what] > 100 * least
        assert ours[what] < 1.01 * every[what]
    assert ours["spills"] <= every["spills"]
