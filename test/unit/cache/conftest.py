"""A cache of its own for every test, and small programs to compile."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tilec.cache import fingerprint

_PROGRAM = """
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @add{number}(%a: memref<32xi32>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %i = gpu.thread_id x
    %k = arith.constant {number} : i32
    %x = memref.load %a[%i] : memref<32xi32>
    %y = arith.addi %x, %k : i32
    memref.store %y, %a[%i] : memref<32xi32>
    gpu.return
  }}
}}
"""


@pytest.fixture
def program() -> Callable[..., str]:
    """A program that adds a number, by that number."""

    def make(number: int, target: str = "sm_80") -> str:
        return _PROGRAM.format(number=number, target=target)

    return make


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty folder that other users can reach."""
    with tempfile.TemporaryDirectory(prefix="tilec-cache-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(autouse=True)
def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is in `folder`, and used by whoever asks for it."""
    monkeypatch.setenv("TILEC_CACHE_DIR", str(folder / "cache"))
    monkeypatch.delenv("TILEC_CACHE", raising=False)


_STEADY = "from tilec.cache import fingerprint; fingerprint._python_files = tuple\n"


@pytest.fixture(autouse=True)
def steady(monkeypatch: pytest.MonkeyPatch) -> str:
    """Keeps whoever edits tilec while the tests run from being seen; code that does the same."""
    monkeypatch.setattr(fingerprint, "_python_files", tuple)
    return _STEADY


@pytest.fixture
def python(steady: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs code in a process of its own."""

    def run(
        code: str, *arguments: str, stdin: str = "", **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", steady + code, *arguments],
            input=stdin,
            env=os.environ | variables,
            capture_output=True,
            text=True,
            check=False,
        )

    return run
