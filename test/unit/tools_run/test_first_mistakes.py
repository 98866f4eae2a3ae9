"""What people write first: flags nearly right, Python for MLIR, a cubin to the terminal."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tilec import isa
from tilec.isa.errors import UnknownNameError
from tilec.tools import tile_isa, tile_layout, tile_opt, tile_run, tile_translate, tile_tune
from tilec.tools import tilec as tilec_tool

ROOT = Path(__file__).resolve().parents[3]
GEMM = str(ROOT / "examples" / "gemm.mlir")


@pytest.mark.parametrize(
    ("main", "given", "meant"),
    [
        (tilec_tool.main, ["--taget", "sm_80"], "--target"),
        (tilec_tool.main, ["--remark=x"], "--remarks"),
        (tile_run.main, ["x.ptx", "--girds", "4"], "--grid"),
        (tile_isa.main, ["list", "--famly", "mma"], "--family"),
        (tile_layout.main, ["x", "--operend", "a"], "--operand"),
        (tile_opt.main, ["-mlir-print-ir-after-al"], "--mlir-print-ir-after-all"),
        (tile_translate.main, ["--mlir-to-llvm"], "--mlir-to-llvmir"),
        (tile_tune.main, ["reprot"], "report"),
        (tile_isa.main, ["lsit"], "list"),
        (tile_run.main, ["x.ptx", "--numerics", "exakt"], "exact"),
    ],
)
def test_words_that_are_nearly_right(main, given, meant, capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(given)
    assert ended.value.code == 2
    assert capsys.readouterr().err.endswith(f"; did you mean {meant}?\n")


def test_flags_like_no_other(capsys) -> None:
    with pytest.raises(SystemExit):
        tilec_tool.main(["--xyzzyx"])
    assert capsys.readouterr().err.endswith("unrecognized arguments: --xyzzyx\n")


@pytest.mark.parametrize("given", ["", " ", "\n", "\t\t", "\u2003"])
def test_words_of_nothing_but_blanks(given: str, capsys) -> None:
    for main in (tilec_tool.main, tile_run.main, tile_layout.main):
        with pytest.raises(SystemExit) as ended:
            main(["x", given, given])
        assert ended.value.code == 2
        assert "\nerror: unrecognized arguments: " in capsys.readouterr().err


@pytest.mark.parametrize(("given", "name"), [("sm80", "sm_80"), ("sm90a", "sm_90a")])
def test_targets_without_underscore(given: str, name: str) -> None:
    assert isa.target(given) is isa.target(name)
    with pytest.raises(UnknownNameError, match="unknown target 'sm81'"):
        isa.target("sm81")


@pytest.mark.parametrize(
    ("fragment", "words"),
    [
        ("mma.m16n8k16", {"m16n8k16"}),
        ("mma.m16n8k16.bf16", {"m16n8k16", "bf16"}),
        ("ldmatrix.x4.trans", {"x4", "trans"}),
        ("wmma.m16n16k16.f16", {"m16n16k16", "f16"}),
        ("m16n8k16", {"m16n8k16"}),
        ("m16n8k16.bf16", {"m16n8k16", "bf16"}),
    ],
)
def test_forms_are_found_by_words_of_them(fragment: str, words: set[str]) -> None:
    with pytest.raises(UnknownNameError) as error:
        isa.form(fragment)
    opcode = fragment.partition(".")[0]
    assert error.value.nearest
    for found in error.value.nearest:
        assert found.startswith(f"{opcode}.") or opcode in words
        assert words <= set(found.split("."))


def test_python_is_no_mlir(capsys) -> None:
    kernel = str(ROOT / "examples" / "kernels" / "gemm.py")
    assert tilec_tool.main([kernel]) == 1
    assert f"{kernel} is Python, not MLIR" in capsys.readouterr().err


def test_cubin_is_not_for_a_terminal() -> None:
    parent, child = pty.openpty()
    command = [sys.executable, "-m", "tilec", GEMM, "--emit", "cubin", "--target", "sm80"]
    done = subprocess.run(command, stdout=child, stderr=subprocess.PIPE, text=True, check=False)
    os.close(child)
    os.close(parent)
    assert done.returncode == 1
    assert (
        done.stderr == "error: a cubin is binary and is not written to a terminal; give -o FILE\n"
    )


def test_the_package_is_the_command() -> None:
    command = [sys.executable, "-m", "tilec", "--list-targets"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "sm_90a" in printed.splitlines()
