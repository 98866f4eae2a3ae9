"""What tools did wrong once, with the mend taken out: programs of it are reduced, unattended.

`unmended.py` takes the mends out; the programs are those by which the faults were found, and of the
project's own.
"""

from __future__ import annotations

import faulthandler
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from tilec.reduction import Interest, reduce_text

from . import unmended

REPROS = Path(__file__).resolve().parents[4] / "shared" / "repros"
LINES = 15
ENDS = ("excess", "crash")
"""What ends the process, and so has one of its own."""
REMEMBERS = ("widths", "powers")
"""What a process remembers of a program, mended or not."""
FOUND = {
    "hard/04_abort_result_number": "excess",
    "hard/05_segv_brackets": "excess",
    "hard/06_layout_map_traceback": "strides",
    "hard/07_i128_traceback": "widths",
    "hard/08_aligned_string_traceback": "promises",
    "hard/12_scalar": "numbers",
    "hard/13_braces_in_comment": "comments",
    "remarks/aligned15": "powers",
    "remarks/sizes": "remarks",
    "workbench/debuginfo_loses_file": "file",
    "workbench/flag_with_spaces_before_file": "flags",
    "workbench/fma": "crash",
    "workbench/implicit_nesting": "nesting",
    "workbench/shared_space_unreadable_by_mlir_opt": "irdl",
    "workbench/verify_diagnostics_prints_nothing": "printing",
}
"""Programs, and the mends that are taken out."""
KERNEL = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%a: memref<64x64xf32, LAYOUT> {PROMISE}, %b: memref<64x64xf32>, %i: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c = arith.constant 0 : index
    %d = arith.addi %i, %c : index
    %x = tile.load %b[%c, %d] masked : memref<64x64xf32> -> tensor<32x32xf32>
    %z = arith.addf %x, %x : tensor<32x32xf32>
    %w = arith.mulf %z, %z : tensor<32x32xf32>
    tile.store %w, %b[%c, %d] masked : tensor<32x32xf32>, memref<64x64xf32>
    gpu.return
  }
}
"""


def kernel(layout: str = "strided<[64, 1]>", promise: str = "") -> str:
    """A kernel of the project's own."""
    made = KERNEL.replace("LAYOUT", layout)
    return made.replace(" {PROMISE}", f" {{{promise}}}" if promise else "")


OWN: dict[str, Callable[[], str]] = {
    "strides": lambda: kernel("affine_map<(i, j) -> (i floordiv 2, j)>"),
    "promises": lambda: kernel(promise='tile.aligned = "x"'),
    "comments": lambda: f"// {'{' * 300}\n{kernel()}",
    "file": kernel,
    "printing": kernel,
}


def apart(act: Callable[[], bool]) -> int:
    """How a process ends that asks something: 0 if it is so."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        code = 2
        try:
            code = int(not act())
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1]


@pytest.fixture
def interest(tmp_path: Path) -> Callable[[str], Interest]:
    """Whether a program shows what a mend has mended."""

    def of(name: str) -> Interest:
        def shows(text: str) -> bool:
            path = tmp_path / "program.mlir"
            path.write_text(text, encoding="utf-8")
            if name in ENDS:
                return os.WIFSIGNALED(apart(lambda: unmended.was_wrong(name, str(path))))
            if name in REMEMBERS:
                mended = apart(lambda: not unmended.is_wrong(name, str(path)))
                return mended == apart(lambda: unmended.was_wrong(name, str(path))) == 0
            return unmended.shows(name, str(path))

        return shows

    return of


def check(text: str, interest: Interest) -> None:
    """Reduce a program."""
    found = reduce_text(text, interest)
    assert interest(found)
    assert len([line for line in found.split("\n") if line.strip()]) < LINES


@pytest.mark.parametrize("name", OWN)
def test_own_programs(name: str, interest: Callable[[str], Interest]) -> None:
    check(OWN[name](), interest(name))


@pytest.mark.slow
@pytest.mark.parametrize("program", FOUND)
def test_programs_that_were_found(program: str, interest: Callable[[str], Interest]) -> None:
    path, name = REPROS / f"{program}.mlir", FOUND[program]
    if not path.is_file():
        pytest.skip(f"{path.name} lies in a folder beside the project, which is not there")
    if name == "irdl" and not (shutil.which("mlir-opt-22") or shutil.which("mlir-opt")):
        pytest.skip("no mlir-opt of upstream's")
    text = path.read_text(encoding="utf-8")
    if name == "printing":  # of an op that a package brings which is not installed
        text = "\n".join(line for line in text.split("\n") if "expected-error" not in line)
    check(text, interest(name))
