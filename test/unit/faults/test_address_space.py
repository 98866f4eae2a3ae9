"""Little address space: what does not fit says so, in one line, before MLIR ends the process."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are of Linux")

IMPORT = """
import resource
pages = int(open("/proc/self/statm").read().split()[0])
used = pages * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + ROOM, used + ROOM))
try:
    from tilec.ir.mlir import ir
except MemoryError:
    print("no room")
else:
    ir.Context()
    print("room")
"""


def imported(mebibytes: int) -> str:
    """What importing the bindings gives with so much address space left."""
    text = IMPORT.replace("ROOM", str(mebibytes << 20))
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("mebibytes", [100, 152, 154, 156])
def test_bindings_are_not_begun_without_room(mebibytes: int) -> None:
    """With 154 LLVM's own start crashed: its library was mapped, and had no room to begin."""
    assert imported(mebibytes) == "no room"


def test_bindings_are_loaded_with_room() -> None:
    assert imported(400) == "room"


@pytest.mark.slow
def test_every_limit_ends_in_one_line(tmp_path: Path) -> None:
    """That of a command whose input needs numpy, MLIR and LLVM."""
    program = Path(__file__).resolve().parents[3] / "examples" / "gemm.mlir"
    command = [sys.executable, "-m", "tilec.tools.tile_run", program, "--grid", "4,4"]
    command += ["--check", "gemm", *("--arg", "7")]
    for limit in range(160 << 20, 420 << 20, 4 << 20):
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        assert done.returncode == 1, (limit >> 20, done.returncode, done.stderr)
        assert len(done.stderr.splitlines()) == 1, (limit >> 20, done.stderr)
    assert "takes three matrices" in done.stderr
