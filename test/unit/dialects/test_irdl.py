"""The dialect in IRDL, as upstream's own tools read it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tilec.dialects.irdl import FILE, irdl_text
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.base import ProgramError
from tilec.passes.pipeline import run_pipeline
from tilec.pipelines import pipeline
from tilec.report.diagnostics import Source
from tilec.report.printing import Style, print_as
from tilec.tools import tile_opt, tilec

ROOT = Path(__file__).parents[3]
PROGRAMS = (
    *("examples/gemm.mlir", "examples/mma.mlir", "examples/kernels/gemm.mlir"),
    *("examples/kernels/softmax.mlir", "examples/kernels/attention.mlir"),
    *("examples/hopper/gemm.mlir", "examples/hopper/tiles.mlir"),
)


def mlir_opt() -> str:
    """Upstream's mlir-opt of LLVM 22, as Debian's mlir-22-tools bring it."""
    names = (os.environ.get("MLIR_OPT", ""), "mlir-opt-22", "mlir-opt")
    for name in names:
        path = shutil.which(name) if name else None
        if path:
            told = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
            if re.search(r"LLVM version 22\.", told.stdout):
                return path
    pytest.skip("no mlir-opt of LLVM 22: apt install mlir-22-tools, or name one in MLIR_OPT")


def test_the_file_is_up_to_date(tmp_path: Path) -> None:
    assert FILE.read_text(encoding="utf-8") == irdl_text()
    out = tmp_path / "tile.irdl.mlir"
    assert tilec.main(["--emit-irdl", "-o", str(out)]) == 0
    assert out.read_text(encoding="utf-8") == irdl_text()


def test_it_knows_every_op() -> None:
    from tilec.ir.assembly.registry import known

    new_context()
    declared = set(re.findall(r"irdl\.operation @(\w+)", irdl_text()))
    assert {n.removeprefix("tile.") for n in known().classes if n.startswith("tile.")} == declared
    with ir.Context(), ir.Location.unknown():
        assert ir.Module.parse(irdl_text()).operation.verify()


def test_the_flag(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(ROOT / "examples/gemm.mlir")
    assert tile_opt.main([path, "--print-tile-op-generic"]) == 0
    shown = capsys.readouterr().out
    assert '"tile.load"(' in shown
    assert "#tile.operand" not in shown
    assert re.search(r"^ +gpu\.barrier$", shown, re.MULTILINE)


@pytest.mark.parametrize("name", PROGRAMS)
def test_mlir_opt_reads_every_level(name: str, tmp_path: Path) -> None:
    """From tiles to fragments, as each pass leaves them; and takes what is wrong for wrong."""
    command = [mlir_opt(), f"--irdl-file={FILE}", "--split-input-file"]
    text = (ROOT / name).read_text(encoding="utf-8")
    chip = "sm_90a" if "hopper" in name else "sm_80"
    module, levels = parse(Source("-", text), new_context()), []
    style = Style(own_generic=True)
    for one in ("", *map(str, pipeline(target(chip)).tile)):
        if one:
            try:
                run_pipeline(module, one)
            except ProgramError:
                break
        levels.append(print_as(module, style))
    path = tmp_path / "levels.mlir"
    path.write_text("\n// -----\n".join(dict.fromkeys(levels)), encoding="utf-8")
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[:2000]
    assert done.stdout.count('"tile.') == sum(one.count('"tile.') for one in dict.fromkeys(levels))
    path.write_text(levels[0].replace('"tile.', '"tile.no_', 1), encoding="utf-8")
    done = subprocess.run([*command, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
