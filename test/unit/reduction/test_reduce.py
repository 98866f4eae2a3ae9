"""Reductions keep what they are told to keep, and little else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tilec.isa import TilecError
from tilec.reduction import Command, Crash, Failure, Validation, reduce_text
from tilec.reduction.extents import extents, smaller
from tilec.reduction.interest import signature
from tilec.tools import tile_reduce

from ..validation import slips
from ..validation.slips import PASSES, PROGRAM, with_slip

LINES = 15


@pytest.mark.parametrize(
    ("act", "behind"),
    [(slips.exchange, "tile-check-target"), (slips.drop_wait, "tile-stage-shared")],
)
def test_a_miscompilation(act, behind: str) -> None:
    interest = Validation(with_slip(act, behind))
    found = reduce_text(PROGRAM, interest)
    assert interest(found)
    assert found.count("\n") < LINES


def test_an_error(tmp_path: Path) -> None:
    text = PROGRAM.replace("32x64xf16", "32x64xf32").replace(
        "%b: memref<?x?xf16>", "%b: memref<?x?xf32>"
    )
    text = text.replace(
        "%b[%k, %i] masked : memref<?x?xf16>", "%b[%k, %i] masked : memref<?x?xf32>"
    )
    path, out = tmp_path / "in.mlir", tmp_path / "out.mlir"
    path.write_text(text)
    words = ["--keep", "error", "--matches", "no instruction of sm_80 multiplies f16 by f32"]
    assert tile_reduce.main([str(path), *words, "-o", str(out)]) == 0
    found = out.read_text()
    assert "f16" in found
    assert "tile.dot" in found
    assert found.count("\n") < LINES
    # The tiles are as small as they can be.
    assert "1x1xf16" in found


def test_a_command(tmp_path: Path) -> None:
    script = tmp_path / "interesting.py"
    script.write_text("import sys\nsys.exit('arith.subf' not in open(sys.argv[1]).read())\n")
    found = reduce_text(PROGRAM, Command([sys.executable, str(script)]))
    assert "arith.subf" in found
    assert "tile.dot" not in found
    assert found.count("\n") < LINES


def test_a_crash(tmp_path: Path) -> None:
    """A process that ends by a signal wherever a program has a `tile.store`."""
    script = tmp_path / "crash.py"
    script.write_text(
        "import os, signal, sys\n"
        "if 'tile.store' in open(sys.argv[1]).read():\n"
        "    os.kill(os.getpid(), signal.SIGSEGV)\n"
    )
    found = reduce_text(PROGRAM, Crash([sys.executable, str(script)]))
    assert "tile.store" in found
    assert "tile.dot" not in found
    assert found.count("\n") < LINES


def test_signatures() -> None:
    assert signature(0, "internal error: KeyError") == ""
    assert signature(1, "error: wrong") == ""
    assert "KeyError" in signature(1, "tile-opt: internal error: KeyError: 'x'")
    assert signature(-11, "error: … pass 'tile-x' crashed") == "signal 11 tile-x"
    assert signature(139, "").startswith("signal 11")


def test_extents() -> None:
    text = "tensor<32x64xf16> memref<?x8xf32, #tile.shared<x>> array<i64: 32>"
    assert extents(text) == [64, 32, 8]
    assert any("tensor<16x64xf16>" in one for one in smaller(text))
    assert all("array<i64: 32>" in one for one in smaller(text))


def test_a_constant_of_one_bit_is_zero_once() -> None:
    """Zero is put in place of an operand until that is zero, which MLIR's `false` is, too."""
    text = PROGRAM.replace(
        "    gpu.return",
        """    %no = arith.constant false
    scf.if %no {
      %t = arith.negf %f : tensor<32x64xf32>
    }
    gpu.return""",
    )
    asked = []

    def interest(text: str) -> bool:
        asked.append(text)
        assert len(asked) < 200
        return "scf.if" in text and "arith.negf" in text

    found = reduce_text(text, interest)
    assert found.count("arith.constant") <= 2
    assert found.count("\n") < LINES
    assert not found.startswith("module {")


@pytest.mark.parametrize("bound", ["%n", "%i"])
def test_loops_are_opened(bound: str) -> None:
    """The round at the lower bound, one that counts as the step does, and both parts of a while."""
    text = f"""
gpu.module @m {{
  gpu.func @k(%n: index, %p: memref<?xf32>) kernel {{
    %i = arith.constant 0 : index
    %s = arith.constant 8 : index
    %r = scf.while (%a = %n) : (index) -> index {{
      %c = arith.cmpi slt, %a, %n : index
      scf.condition(%c) %a : index
    }} do {{
    ^bb0(%a: index):
      %l = scf.for %k = %i to %n step %s iter_args(%b = %a) -> index {{
        %x = tile.load %p[{bound.replace("%i", "%k")}] : memref<?xf32> -> tensor<8xf32>
        tile.store %x, %p[%s] : tensor<8xf32>, memref<?xf32>
        scf.yield %b : index
      }}
      scf.yield %l : index
    }}
    gpu.return
  }}
}}
"""
    found = reduce_text(text, lambda text: "tile.load" in text and "tile.store" in text)
    assert "scf." not in found
    assert found.count("\n") < 10


def test_what_shows_nothing() -> None:
    with pytest.raises(TilecError, match="does not show"):
        reduce_text(PROGRAM, Failure(PASSES, "no such message"))


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.mlir"
    path.write_text(PROGRAM)
    assert tile_reduce.main([str(path)]) == 1
    assert "say what is interesting" in capsys.readouterr().err
    done = subprocess.run(
        [sys.executable, "-m", "tilec.tools.tile_reduce", str(path), "--test", "false"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "does not show what is looked for" in done.stderr
