"""The kinds of mistakes that NVIDIA documents for compute-sanitizer's tools, compiled by nvcc.

Each is found at its line, and its right twin has no finding and no advice.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tilec.sim import Module, Report, launch, read

SOURCE = Path(__file__).parent / "sanitizer.cu"

pytestmark = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed")

KINDS = {
    "unaligned": {"misaligned"},
    "nowhere": {"out-of-bounds"},
    "beyond": {"out-of-bounds"},
    "beyond_shared": {"out-of-bounds"},
    "freed_twice": {"heap"},
    "freed_before": {"out-of-bounds"},
    "unsynced_block": {"race"},
    "unsynced_warp": {"race"},
    "written_twice": {"race"},
    "unawaited": {"async"},
    "left_cluster": {"cluster"},
    "unwritten": {"uninitialised"},
    "exited": {"barrier"},
    "divergent": {"barrier"},
    "unnamed": {"partial-warp"},
    "odd_count": {"barrier"},
}


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> Module:
    target = tmp_path_factory.mktemp("ptx") / "sanitizer.ptx"
    command = ["nvcc", "-arch=sm_90", "-std=c++17", "-lineinfo", "-ptx", SOURCE, "-o", target]
    subprocess.run(command, check=True, capture_output=True)
    return read(target)


def run(module: Module, name: str) -> Report:
    ctas = 2 if name.startswith("left_cluster") else 1
    out, given = np.zeros(64 * ctas, np.int32), np.arange(64, dtype=np.int32)
    shared = 256 if name.startswith("beyond_shared") else 0
    return launch(module, name, ctas, 64, [out, given], dynamic_smem=shared)


@pytest.mark.parametrize("name", KINDS)
def test_a_mistake_is_found_at_its_line(module: Module, name: str) -> None:
    text = SOURCE.read_text().splitlines()
    begin = next(n for n, line in enumerate(text) if f"void {name}(" in line)
    wrong = next(n for n, line in enumerate(text[begin:], begin + 1) if "// wrong" in line)
    report = run(module, f"{name}_wrong")
    assert {one.kind for one in report.findings} == KINDS[name], report.findings
    assert f"sanitizer.cu:{wrong}" in report.findings[0].source


@pytest.mark.parametrize("name", KINDS)
def test_its_right_twin_is_right(module: Module, name: str) -> None:
    report = run(module, f"{name}_right")
    assert report.ok, report.findings
    assert not report.advice
