"""Every command ends with the exit codes that the documentation lists."""

from __future__ import annotations

import re
import signal
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest
from tilec.tools import (
    common,
    tile_isa,
    tile_layout,
    tile_lsp_server,
    tile_new_pass,
    tile_opt,
    tile_reduce,
    tile_run,
    tile_translate,
    tilec,
    update_tile_test_checks,
)

DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "commands.md"
TOOLS = (
    *(tilec, tile_opt, tile_translate, tile_reduce, tile_run, tile_layout, tile_isa),
    *(tile_lsp_server, tile_new_pass, update_tile_test_checks),
)
FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
PROGRAM = "func.func @f(%x: i32) -> i32 {\n  %0 = arith.muli %x, %x : i32\n  return %0 : i32\n}\n"
KERNEL = """gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
"""
LOWERED = "llvm.func @f() {\n  llvm.return\n}\n"
WRONG = "func.func @f() -> i32 {\n}\n"
UNSUPPORTED = "  frob.b32 %r1;\n"
OUTSIDE = "  .reg .b64 %rd<2>;\n  mov.b64 %rd1, 16;\n  st.global.b32 [%rd1], 0;\n"
PTX = (
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry k(.param .u64 p) .reqntid 32\n{{\n{}  ret;\n}}\n"
)
FILES = {
    "a.mlir": PROGRAM,
    "kernel.mlir": KERNEL,
    "lowered.mlir": LOWERED,
    "wrong.mlir": WRONG,
    "expects.mlir": "// expected-error @below {{no such error}}\n" + PROGRAM,
    "test.mlir": "// RUN: tile-opt %s | FileCheck %s\n" + PROGRAM,
    "no_test.mlir": PROGRAM,
    "fails.mlir": "// RUN: false %s | FileCheck %s\n" + PROGRAM,
    "a.ptx": PTX.format(""),
    "unsupported.ptx": PTX.format(UNSUPPORTED),
    "out_of_bounds.ptx": PTX.format(OUTSIDE),
    "check.py": "def expected(*arguments):\n    return {0: arguments[0] + 1}\n",
}
OUTPUTS = ("out", "0=out.npy")
LAYOUT = "m16n8k16 --operand a --type f16"
ROWS = [
    # success
    (tilec, "kernel.mlir --emit nvvm -o out", 0),
    (tile_opt, "a.mlir --canonicalize -o out", 0),
    (tile_translate, "lowered.mlir --mlir-to-llvmir -o out", 0),
    (tile_reduce, "a.mlir --test true -o out", 0),
    (tile_run, "a.ptx --device sim --arg zeros:4 --out 0=out.npy", 0),
    (tile_run, "a.ptx --dry-run", 0),
    (tile_layout, f"{LAYOUT} -o out", 0),
    (tile_layout, f"{LAYOUT} --element 3,5", 0),
    (tile_layout, "smem --shape 16x32 --type f16 --access ldmatrix.x4", 0),
    (tile_isa, "list --family wgmma", 0),
    (tile_isa, f"show {FORM}", 0),
    (tile_isa, f"emit {FORM} --target sm_80 -o out", 0),
    (tile_new_pass, "acme -o out", 0),
    (update_tile_test_checks, "test.mlir", 0),
    # a mistake in a program, in what is named, or in a value
    (tilec, "wrong.mlir -o out", 1),
    (tilec, "missing.mlir -o out", 1),
    (tilec, "kernel.mlir --target sm_1 -o out", 1),
    (tile_opt, "wrong.mlir -o out", 1),
    (tile_opt, "a.mlir -p builtin.module(no-such-pass) -o out", 1),
    (tile_opt, "a.mlir --no-such-pass -o out", 1),
    (tile_translate, "a.mlir --mlir-to-llvmir -o out", 1),
    (tile_reduce, "missing.mlir --test true -o out", 1),
    (tile_run, "missing.ptx", 1),
    (tile_run, "a.ptx --device sim --arg nonsense", 1),
    (tile_layout, "m16n8k17 --operand a --type f16 -o out", 1),
    (tile_layout, f"{LAYOUT} --element 99,99", 1),
    (tile_layout, "smem --shape 16x32 --type f16 --access ldmatrix.x3", 1),
    (tile_isa, "list --target sm_1", 1),
    (tile_isa, "show mma.m16n8k16", 1),
    (tile_isa, "emit mma.m16n8k16 --target sm_80 -o out", 1),
    (tile_new_pass, "Acme -o out", 1),
    (update_tile_test_checks, "no_test.mlir", 1),
    # a check that fails, or a finding
    (tile_opt, "expects.mlir --verify-diagnostics", 1),
    (tile_reduce, "a.mlir --test false -o out", 1),
    (tile_run, "out_of_bounds.ptx --device sim --arg zeros:4 --out 0=out.npy", 1),
    (tile_run, "a.ptx --device sim --arg zeros:4 --check check.py --out 0=out.npy", 1),
    (tile_run, "unsupported.ptx --dry-run", 1),
    (update_tile_test_checks, "fails.mlir", 1),
    # wrong usage
    *((tool, "--no-such-flag", 2) for tool in TOOLS if tool is not tile_opt),
    (tile_opt, "a.mlir --mlir-no-such-flag -o out", 2),
    (tilec, "kernel.mlir --emit nothing -o out", 2),
    (tile_layout, "smem --no-such-flag", 2),
    (tile_isa, "", 2),
    (tile_run, "a.ptx --max-steps no", 2),
    (tile_new_pass, "", 2),
    (update_tile_test_checks, "", 2),
]


def end(tool: ModuleType, words: Sequence[str]) -> object:
    """The exit code of a command."""
    try:
        return tool.main(words)
    except SystemExit as error:
        return error.code


def name(tool: ModuleType) -> str:
    return tool.__name__.rpartition(".")[2]


@pytest.mark.parametrize(
    ("tool", "words", "code"), ROWS, ids=[f"{name(tool)} {words}" for tool, words, _ in ROWS]
)
def test_code(
    tool: ModuleType,
    words: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    assert end(tool, words.split()) == code
    said = capsys.readouterr().err
    assert bool(said) == bool(code)
    assert "Traceback" not in said
    assert "internal error" not in said
    wanted = {one.removeprefix("0=") for one in words.split() if one in OUTPUTS}
    assert {path.name for path in Path().iterdir()} - set(FILES) == (set() if code else wanted)


@pytest.mark.parametrize("tool", TOOLS, ids=name)
@pytest.mark.parametrize("flag", ["--help", "--version", "--completion=bash"])
def test_answers_succeed(tool: ModuleType, flag: str) -> None:
    assert end(tool, [flag]) == 0


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ZeroDivisionError("x"), 1, "error: internal error at test_exit_codes.py:"),
        (MemoryError(), 1, "error: not enough memory\n"),
        (RecursionError(), 1, "error: the input nests too deeply for the stack\n"),
        (BrokenPipeError(), 1, ""),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=lambda one: type(one).__name__ if isinstance(one, BaseException) else "",
)
@pytest.mark.parametrize("tool", TOOLS, ids=name)
def test_what_a_command_does_not_expect(
    tool: ModuleType,
    error: BaseException,
    code: int,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def fail(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(common.Parser, "parse_args", fail)
    assert tool.main([]) == code
    assert capsys.readouterr().err.startswith(says) if says else not capsys.readouterr().err


def test_these_are_the_documented_codes() -> None:
    _, _, rest = DOCUMENT.read_text().partition("## Exit codes")
    table = rest.partition("\n## ")[0]
    listed = {int(code) for code in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    assert listed == {code for _, _, code in ROWS} | {128 + signal.SIGINT, 128 + signal.SIGTERM}
