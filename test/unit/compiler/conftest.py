"""Programs to compile, and a process of their own for what might end the one that compiles."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

SCALE = """\
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @scale(%a: memref<?x64xf32, strided<[?, 1], offset: ?>>, %n: i32, %f: f32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %row = gpu.block_id x
    %col = gpu.thread_id x
    %v = memref.load %a[%row, %col] : memref<?x64xf32, strided<[?, 1], offset: ?>>
    %w = arith.mulf %v, %f : f32
    memref.store %w, %a[%row, %col] : memref<?x64xf32, strided<[?, 1], offset: ?>>
    gpu.return
  }
}
"""


@pytest.fixture(scope="session")
def scale() -> str:
    """A program in upstream's dialects alone."""
    return SCALE


@pytest.fixture(scope="session")
def kernel() -> Callable[..., str]:
    """A program of one kernel with this body, on a pointer %p, an i32 %n and an f32 %x."""

    def program(body: str, *, outside: str = "", target: str = "sm_80") -> str:
        return (
            f'gpu.module @m [#nvvm.target<chip = "{target}">] {{\n{outside}\n'
            f"gpu.func @k(%p: !llvm.ptr<1>, %n: i32, %x: f32) kernel {{\n{body}\n"
            "gpu.return\n}\n}\n"
        )

    return program


Outcome = subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def python() -> Callable[..., Outcome]:
    """Runs Python code in another process; the arguments arrive in `sys.argv`."""

    def run(code: str, *arguments: str, stdin: str = "", **environment: str) -> Outcome:
        return subprocess.run(
            [sys.executable, "-c", code, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**os.environ, **environment},
        )

    return run


@pytest.fixture(scope="session")
def tilec() -> Callable[..., Outcome]:
    """Runs the command line in another process."""

    def run(*arguments: str, stdin: str | bytes = "", **environment: str) -> Outcome:
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        done = subprocess.run(
            [sys.executable, "-m", "tilec.tools.tilec", *arguments],
            input=data,
            capture_output=True,
            check=False,
            timeout=120,
            env={**os.environ, **environment},
        )
        return subprocess.CompletedProcess(
            done.args, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode()
        )

    return run
