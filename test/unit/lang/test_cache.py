"""Kernels come from the cache on disk without MLIR, where nothing that they read has changed."""

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import tilec
import tilec.lang as tl

STEADY = """
from tilec.cache import fingerprint
fingerprint._python_files = tuple  # whoever edits tilec while the tests run is not seen
"""

PROGRAM = f"""{STEADY}
import sys
import numpy as np
import tilec.lang as tl
import other

FACTOR = 3.0

def helper(tile: tl.Tile) -> tl.Tile:
    return tile * FACTOR + other.OFFSET

@tl.kernel
def k(x: tl.Array[tl.float32, int], B: tl.Constant[int] = 64) -> None:
    tl.store(x, 0, helper(tl.load(x, 0, B)))

x = np.ones(64, np.float32)
ptx = k.compile(x).ptx
light = not any(name.startswith(("mlir", "torch_mlir", "llvmlite")) for name in sys.modules)
x.flags.writeable = False
try:
    k[1](x)
except tl.TilecError as error:
    assert "'x' is read-only" in str(error), error
else:
    raise AssertionError
x.flags.writeable = True
k[1](x)
print(x[0], light)
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[[], tuple[float, bool]]:
    """Runs the program in `tmp_path`: what it computes, and whether it did without MLIR."""
    (tmp_path / "program.py").write_text(PROGRAM.replace("tl.TilecError", "Exception"))
    (tmp_path / "other.py").write_text("OFFSET = 1.0\n")
    folder = str(tmp_path / "cache")
    environment = os.environ | {"TILEC_CACHE": "1", "TILEC_CACHE_DIR": folder}

    def run() -> tuple[float, bool]:
        done = subprocess.run(
            [sys.executable, "-B", "program.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        value, light = done.stdout.split()
        return float(value), light == "True"

    return run


def test_what_is_read_decides(run: Callable[[], tuple[float, bool]], tmp_path: Path) -> None:
    assert run() == (4.0, False)
    assert run() == (4.0, True)
    (tmp_path / "other.py").write_text("OFFSET = 2.0\n")
    assert run() == (5.0, False)
    program = tmp_path / "program.py"
    program.write_text(program.read_text().replace("FACTOR = 3.0", "FACTOR = 4.0"))
    assert run() == (6.0, False)
    program.write_text(program.read_text().replace("tile * FACTOR", "tile * 2 * FACTOR"))
    assert run() == (10.0, False)
    program.write_text(program.read_text() + "\nUNREAD = 1\n")
    assert run() == (10.0, True)


MANY = f"""{STEADY}
import random, sys
import tilec
import tilec.lang as tl

@tilec.kernel
def times(x: tl.Array[tl.float32, int], N: tl.Constant[int]) -> None:
    tl.store(x, 0, tl.load(x, 0, 64) * N)

random.seed(sys.argv[1])
for number in random.sample(range(1, 7), 6):
    print(number, repr(times.compile(N=number).ptx))
"""


@tilec.kernel
def times(x: tl.Array[tl.float32, int], N: tl.Constant[int]) -> None:  # noqa: N803
    tl.store(x, 0, tl.load(x, 0, 64) * N)


@pytest.mark.slow
def test_sixteen_processes_some_of_them_killed(tmp_path: Path) -> None:
    program = tmp_path / "many.py"
    program.write_text(MANY)
    environment = os.environ | {"TILEC_CACHE": "1", "TILEC_CACHE_DIR": str(tmp_path / "cache")}
    chance = random.Random(0)

    def start(number: int) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-B", str(program), str(number)],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    expected = {f"{number} {times.compile(N=number).ptx!r}" for number in range(1, 7)}
    running = [start(number) for number in range(16)]
    for number in range(16, 22):
        time.sleep(chance.uniform(0, 0.5))
        killed = running.pop(chance.randrange(len(running)))
        killed.kill()
        assert killed.communicate()[1] == ""
        running.append(start(number))
    for process in running:
        out, errors = process.communicate()
        assert (process.returncode, errors) == (0, "")
        assert set(out.splitlines()) == expected


def test_a_global_that_changes_compiles_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = scaled.compile()
    assert scaled.compile() is first
    monkeypatch.setitem(globals(), "SCALE", 7.0)
    assert scaled.compile() is not first


SCALE = 5.0


@tilec.kernel
def scaled(x: tl.Array[tl.float32, int]) -> None:
    tl.store(x, 0, tl.load(x, 0, 32) * SCALE)
