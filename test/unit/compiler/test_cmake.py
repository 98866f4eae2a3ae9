"""The LLVM way in: CMake configures without a compiler, lists the suites, and runs lit."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(not shutil.which("cmake"), reason="cmake is not installed")


def run(*command: str, ok: bool = True) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) == ok, done.stdout + done.stderr
    return done.stdout + done.stderr


def configure(build: Path, lit_filter: str) -> None:
    run(
        "cmake",
        *("-S", str(ROOT), "-B", str(build), f"-DPython3_EXECUTABLE={sys.executable}"),
        f"-DTILEC_LIT_ARGS=-v --filter={lit_filter}",
    )


def test_suites(tmp_path: Path) -> None:
    configure(tmp_path, "tile-opt-lists")
    listed = run("ctest", "--test-dir", str(tmp_path), "-N")
    assert [line.split()[-1] for line in listed.splitlines() if "Test #" in line] == [
        "lit",
        "unit",
        "device",
    ]
    ran = run("cmake", "--build", str(tmp_path), "--target", "check-tilec")
    assert "PASS: tilec :: tools/tile-opt-lists.test" in ran


def test_failing_lit_fails_the_target(tmp_path: Path) -> None:
    configure(tmp_path, "no-such-test-anywhere")
    run("cmake", "--build", str(tmp_path), "--target", "check-tilec", ok=False)
