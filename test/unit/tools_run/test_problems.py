"""`tile-run --problems`: the launches of a file, one on each line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tilec.tools import tile_run

KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a)
{
 .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f32 %f<4>;
 ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a];
 mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 32, %r1;
 mul.wide.u32 %rd3, %r3, 4; add.s64 %rd4, %rd1, %rd3; add.s64 %rd5, %rd2, %rd3;
 ld.global.f32 %f2, [%rd5]; mul.f32 %f3, %f1, %f2; st.global.f32 [%rd4], %f3;
 ret;
}
"""
CHECK = "def reference(y, x, a):\n    return {0: x * x.dtype.type(a)}\n"
LINES = """\
# each has its own sizes
--grid 1 --arg zeros:32 --arg arange:32 --arg f32:2 --out 0=FOLDER/a.npy

  --grid 2 --arg zeros:64 --arg arange:64 --arg f32:3 --out '0=FOLDER/b c.npy'  # two CTAs
--grid 3 --arg zeros:64 --arg arange:64 --arg f32:3 --out 0=FOLDER/none.npy
--arg zeros:32 --arg FOLDER/x.npy --arg f32:3
--arg zeros:32 --arg arange:32 --arg f32:1 --kernel scala
"""


def run(folder: Path, lines: str, *words: str) -> int:
    (folder / "k.ptx").write_text(KERNEL)
    (folder / "k.py").write_text(CHECK)
    (folder / "p.txt").write_text(lines.replace("FOLDER", str(folder)))
    given = [str(folder / "k.ptx"), "--problems", str(folder / "p.txt"), *words]
    check = ["--block", "32", "--device", "sim", "--check", str(folder / "k.py")]
    return tile_run.main([*given, *check])


def test_each_line_is_a_launch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of which those that fail are told of at their lines, in order, and leave no file."""
    assert run(tmp_path, LINES) == 1
    captured = capsys.readouterr()
    place = f"{tmp_path}/p.txt"
    assert [line for line in captured.out.splitlines() if line.startswith((place, "kernel"))] == [
        f"{place}:2:1:", "kernel scale: completed", f"{place}:4:3:", "kernel scale: completed",
        f"{place}:5:1:", "kernel scale: completed",
    ]  # fmt: skip
    assert [line.partition(" (")[0] for line in captured.err.splitlines()] == [
        f"{place}:5:1: error: kernel 'scale': 2 findings",
        f"{place}:6:1: error: {tmp_path}/x.npy: No such file or directory",
        f"{place}:7:1: error: no kernel 'scala'; nearest: scale",
        "error: 3 of 5 problems failed",
    ]
    assert np.array_equal(np.load(tmp_path / "a.npy"), 2 * np.arange(32))
    assert np.array_equal(np.load(tmp_path / "b c.npy"), 3 * np.arange(64))
    assert not (tmp_path / "none.npy").exists()


def test_json_is_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command's flags stand before those of each line."""
    lines = "--arg f32:2\n--arg f32:5 --grid 2\n"
    words = ("--arg", "zeros:32", "--arg", "arange:32", "--report", "json")
    assert run(tmp_path, lines, *words) == 1
    first, second = json.loads(capsys.readouterr().out)
    assert first["error"] is None
    assert first["place"] == f"{tmp_path}/p.txt:1:1"
    assert first["check"][0]["wrong"] == 0
    assert second["error"] == "kernel 'scale': 2 findings"
    assert second["check"] == []


@pytest.mark.parametrize(
    ("lines", "words", "said"),
    [
        ("\n  --grid 0\n", [], "p.txt:2:3: error: argument --grid: '0' is not X, X,Y or X,Y,Z of"),
        ("--gird 1\n", [], "p.txt:1:1: error: unrecognized arguments: --gird 1; legal: --arg, "),
        ("--numerics fast\n", [], "error: unrecognized arguments: --numerics fast"),
        ("--check 'gemm\n", [], "p.txt:1:1: error: no closing quotation"),
        ("# nothing\n", [], "p.txt:1:1: error: the file has no problem"),
        ("--out 0=a.npy\n--out 0=a.npy\n", [], "error: a.npy is the name of two outputs"),
        ("--arg a.npy:f16\n--out 0=a.npy\n", [], "error: a.npy is the input"),
        ("--grid 1\n", ["--timeline", "t.html"], "error: --timeline shows one launch: without --p"),
        ("--grid 1\n", ["--debug"], "error: --debug shows one launch: without --problems"),
        ("--grid 1\n", ["--report", "html"], "error: --report html shows one launch"),
    ],
)
def test_wrong_use(
    lines: str, words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path, lines, *words) == 1
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("error: ") == 1
    assert not captured.out


def test_files_that_are_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "k.ptx").write_text(KERNEL)
    (tmp_path / "p.txt").write_bytes(b"\xff")
    for name, said in (("none", "none: No such file"), ("p.txt", "input is not UTF-8 text")):
        words = [str(tmp_path / "k.ptx"), "--problems", str(tmp_path / name)]
        assert tile_run.main(words) == 1
        assert said in capsys.readouterr().err
