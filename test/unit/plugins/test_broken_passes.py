"""Passes of others that are wrong, each in its way: what is said names the pass and the place."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[..., None]
Run = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM = """\
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%p: memref<64x64xf32>, %i: index) kernel {
    %a = tile.load %p[%i, %i] : memref<64x64xf32> -> tensor<64x64xf32>
    %b = arith.addf %a, %a : tensor<64x64xf32>
    %c = arith.mulf %b, %a : tensor<64x64xf32>
    tile.store %c, %p[%i, %i] : tensor<64x64xf32>, memref<64x64xf32>
    gpu.return
  }
}
"""
HEAD = """\
import os
from dataclasses import dataclass
from typing import ClassVar

from tilec.mlir import ir, rewrite
from tilec.passes import Pass, walk


def adds(module):
    return [op for op in walk(module.operation) if op.operation.name == "arith.addf"]


def patterns(module, callback):
    found = rewrite.RewritePatternSet()
    found.add("arith.addf", callback)
    rewrite.apply_patterns_and_fold_greedily(module, found.freeze())
"""
# The body of `apply`, and what is said; `<<` stands behind what the place must be.
BROKEN = {
    "erased-op-with-uses": (
        "adds(module)[0].erase() # <<",
        "ValueError: 'arith.addf' cannot be erased: its result 0 is used by 'arith.mulf'",
    ),
    "erased-by-rewriter": (
        "def callback(op, rewriter):\n"
        "            rewriter.erase_op(op) # <<\n"
        "        patterns(module, callback)",
        "ValueError: 'arith.addf' cannot be erased: its result 0 is used by 'arith.mulf'",
    ),
    "use-after-erasure": (
        "store = [op for op in walk(module.operation) if op.operation.name == 'tile.store'][0]\n"
        "        store.erase()\n"
        "        print(store.operands[0]) # <<",
        "RuntimeError: the operation has been invalidated",
    ),
    "wrong-type": (
        "op = adds(module)[0]\n        op.result.set_type(ir.F32Type.get())",
        "pass 'wrong-type' of broken 1.0 left invalid IR",
    ),
    "no-dominance": (
        "op = adds(module)[0]\n"
        "        op.operation.move_after(op.operation.parent.regions[0].blocks[0].operations[2])",
        "pass 'no-dominance' of broken 1.0 left invalid IR",
    ),
    "endless-pattern": (
        "def callback(op, rewriter):\n"
        "            with rewriter.ip, op.location:\n"
        "                new = ir.Operation.create(op.operation.name, [op.result.type],\n"
        "                    [op.operands[1], op.operands[0]])\n"
        "            rewriter.replace_op(op, new)\n"
        "        patterns(module, callback)",
        "RuntimeError: pattern application failed to converge",
    ),
    "exception": ("raise KeyError('oops') # <<", "KeyError: 'oops'"),
    "exception-in-a-pattern": (
        "def callback(op, rewriter):\n"
        "            op.no_such_attribute # <<\n"
        "        patterns(module, callback)",
        "AttributeError: 'AddFOp' object has no attribute 'no_such_attribute'",
    ),
    "unknown-op": (
        "op = adds(module)[0]\n"
        "        with ir.InsertionPoint(op), op.location:\n"
        "            ir.Operation.create('arith.addff', [op.result.type], list(op.operands))",
        "pass 'unknown-op' of broken 1.0 left invalid IR",
    ),
    "no-location": (
        "op = adds(module)[0]\n"
        "        with ir.InsertionPoint(op):\n"
        "            ir.Operation.create('arith.addf', [op.result.type], list(op.operands)) # <<",
        "RuntimeError: An MLIR function requires a Location",
    ),
    "crash": (
        "ir.Attribute.parse('[' * 1_000_000) # <<",
        "error: pass 'crash' of broken 1.0 crashed in MLIR: Segmentation fault",
    ),
    "abort": ("os.abort() # <<", "error: pass 'abort' of broken 1.0 crashed in MLIR: Aborted"),
}


def _class(name: str, body: str) -> str:
    return f"""

@dataclass(frozen=True)
class {name.title().replace("-", "")}(Pass):
    name: ClassVar[str] = "{name}"

    def apply(self, module): # APPLY {name}
        {body}
"""


CODE = HEAD + "".join(_class(name, body) for name, (body, _) in BROKEN.items())


@pytest.fixture(autouse=True)
def package(install: Install) -> None:
    """A package of broken passes."""
    classes = {name: f"broken:{name.title().replace('-', '')}" for name in BROKEN}
    install("broken", CODE, {"tilec.passes": classes})


def _line(name: str) -> int:
    """The line of the package that a message about the pass must name."""
    lines = CODE.split("\n")
    first = next(i for i, line in enumerate(lines, 1) if line.endswith(f"# APPLY {name}"))
    body, said = BROKEN[name]
    if "left invalid IR" in said:
        return first
    mark = "# <<" if "# <<" in body else "patterns(module"
    for number, line in enumerate(lines[first:], first + 1):
        if mark in line:
            return number
    raise AssertionError(name)


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_said_names_the_pass_and_the_place(
    name: str, run: Run, site: Path, tmp_path: Path
) -> None:
    source = tmp_path / "program.mlir"
    source.write_text(PROGRAM)
    done = run("tile_opt", str(source), f"--{name}", "-o", str(tmp_path / "out.mlir"))
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert f"pass '{name}' of broken 1.0" in done.stderr
    assert BROKEN[name][1] in done.stderr
    if name == "endless-pattern":  # what does not converge is the driver that the helper calls
        assert f"{site / 'broken.py'}:{_line(name)}:" in done.stderr
    else:
        spoken = [line for line in done.stderr.splitlines() if f"pass '{name}'" in line]
        assert [re.match(r"(.*?):(\d+):\d+: ", line)[0] for line in spoken][:1]  # type: ignore[index]
        assert spoken[0].startswith(f"{site / 'broken.py'}:{_line(name)}:")
    assert not (tmp_path / "out.mlir").exists()


@pytest.mark.parametrize("asked", [True, False])
def test_a_crash_leaves_a_reproducer(asked: bool, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "again.mlir"
    flags = [f"--mlir-pass-pipeline-crash-reproducer={path}"] if asked else []
    done = run(
        "tile_opt",
        "-",
        "-convert-gpu-to-nvvm",
        "--crash",
        *flags,
        stdin=PROGRAM,
        TMPDIR=str(tmp_path),
    )
    left = re.search(r"note: reproducer generated at (\S+); to run it again: (.*)", done.stderr)
    assert left
    assert (left[1] == str(path)) == asked
    again = run("tile_opt", "--run-reproducer", left[1], TMPDIR=str(tmp_path))
    assert again.returncode == done.returncode
    assert "pass 'crash' of broken 1.0 crashed in MLIR" in again.stderr


def test_the_compiler_says_the_same(run: Run, tmp_path: Path) -> None:
    flags = ["--pipeline", "canonicalize,crash", "--target", "sm_80", "--emit", "nvvm"]
    done = run("tilec", "-", *flags, stdin=PROGRAM, TMPDIR=str(tmp_path))
    assert "error: pass 'crash' of broken 1.0 crashed in MLIR" in done.stderr
    left = re.search(
        r"note: reproducer generated at (\S+); to run it again: tilec (.*)", done.stderr
    )
    assert left
    again = run("tilec", *left[2].split(), TMPDIR=str(tmp_path))
    assert "error: pass 'crash' of broken 1.0 crashed in MLIR" in again.stderr


def test_a_pass_of_upstream_that_crashes_is_named(run: Run) -> None:
    """The pass that runs is told before it runs; there is no Python of its own to name."""
    code = (
        "from tilec.tools import crash_watch\n"
        "crash_watch.watch_for_crashes()\n"
        "from tilec.passes.base import running\n"
        "import os\n"
        "with crash_watch.reported_crashes('text', 'tile-opt'), running('canonicalize'):\n"
        "    os.kill(os.getpid(), 11)\n"
    )
    done = run("python", code)
    assert "error: pass 'canonicalize' crashed in MLIR: Segmentation fault" in done.stderr


def test_who_ends_well_hears_nothing(run: Run) -> None:
    done = run("tile_opt", "-", "--canonicalize", stdin=PROGRAM)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_class_with_fields_that_is_no_dataclass(run: Run, install: Install) -> None:
    code = (
        "from typing import ClassVar\nfrom tilec.passes import Pass\n"
        "class Deep(Pass):\n"
        "    name: ClassVar[str] = 'deep'\n"
        "    depth: int = 3\n"
        "    def apply(self, module): print(self.depth)\n"
    )
    install("deep", code, {"tilec.passes": {"deep": "deep:Deep"}})
    done = run("tile_opt", "-", "--deep=depth=4", stdin=PROGRAM)
    assert done.returncode == 1
    assert done.stderr == (
        "error: deep 1.0 registers 'deep' as deep:Deep, which is not a dataclass: write "
        "@dataclass(frozen=True) above class Deep, so that 'depth' is an option\n"
    )
