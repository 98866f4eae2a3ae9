"""The command lines take bad input without a traceback, an abort or a file left after."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Outcome = subprocess.CompletedProcess[str]
Run = Callable[..., Outcome]

NO_TARGET = "gpu.module @m {\n  gpu.func @k() kernel { gpu.return }\n}\n"
BAD_TEXT = {
    "nothing": ("", "<stdin>: error: the program has no gpu.module"),
    "blank lines": ("\n\n", "error: the program has no gpu.module"),
    "prose": ("hello world\n", "<stdin>:1:1: error: custom op 'hello' is unknown"),
    "cut off": ("gpu.module @m {\n", "<stdin>:1:16: error: "),
    "two modules": (
        NO_TARGET + NO_TARGET.replace("@m", "@n"),
        "<stdin>:4:1: error: a second gpu.module",
    ),
    "no kernel": (
        "gpu.module @m {\n  gpu.func @f() { gpu.return }\n}\n",
        "<stdin>:1:1: error: the gpu.module has no kernel",
    ),
    "kernel without a body": (
        "gpu.module @m {\n  gpu.func @k() kernel\n}\n",
        "<stdin>:2:23: error: expected '{' to begin a region",
    ),
    "declared llvm kernel": (
        "gpu.module @m {\n  llvm.func @k() attributes {nvvm.kernel}\n}\n",
        "<stdin>:2:3: error: the kernel has no body",
    ),
    "unknown target": (
        NO_TARGET.replace("@m", '@m [#nvvm.target<chip = "sm_81">]'),
        "<stdin>:1:1: error: unknown target 'sm_81'; nearest legal: sm_8",
    ),
    "pretty tile op": (
        NO_TARGET.replace("gpu.return", "\n    tile.mma %a\n gpu.return"),
        "<stdin>:3:16: error: custom op 'tile.mma' expected ','",
    ),
    "pretty tile op with a result": (
        NO_TARGET.replace("gpu.return", "\n    %d = tile.mmma %a\n gpu.return"),
        "<stdin>:3:10: error: unknown operation 'tile.mmma'; nearest: tile.mma",
    ),
    "unknown tile op": (
        NO_TARGET.replace("gpu.return", '\n    "tile.mmma"() : () -> ()\n gpu.return'),
        "<stdin>:3:5: error: unknown operation 'tile.mmma'; nearest: tile.mma",
    ),
    "endless nesting": (  # exhausts the stack of MLIR's parser
        "module {\n" * 20000 + "}" * 20000,
        "<stdin>:257:8: error: brackets nest more than 256 deep",
    ),
    "unknown tile type": (
        NO_TARGET.replace("@k()", "@k(%a: !tile.fragment<3>)"),
        "<stdin>:2:",
    ),
}


@pytest.mark.parametrize("name", BAD_TEXT)
def test_bad_text(name: str, tilec: Run, tmp_path: Path) -> None:
    text, message = BAD_TEXT[name]
    done = tilec("-", "-o", str(tmp_path / "out.ptx"), stdin=text)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_source_line_and_caret(tilec: Run) -> None:
    done = tilec(stdin="gpu.module @m {\n\tgpu.func @k() kernel { arith.foo }\n}\n")
    first, quoted, caret = done.stderr.splitlines()[:3]
    assert first.startswith("<stdin>:2:25: error: ")
    assert quoted == "\tgpu.func @k() kernel { arith.foo }"
    assert caret == "\t" + " " * (len("gpu.func @k() kernel { ")) + "^"


def test_not_utf_8(tilec: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.mlir"
    bad.write_bytes(b"// fine\n// na\xefve\n")
    done = tilec(str(bad))
    assert done.returncode == 1
    assert done.stderr == f"error: {bad}:2: not UTF-8: byte 0xef at offset 13\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{dir}"], "error: {dir} is a directory"),
        (["{dir}/none.mlir"], "error: {dir}/none.mlir: No such file or directory"),
        (["{good}", "-o", "{dir}"], "error: {dir}: Is a directory"),
        (["{good}", "-o", "{dir}/none/out.ptx"], "{dir}/none/out.ptx: No such file or directory"),
        (["{good}", "-o", "{dir}/out.json"], "out.json is where the kernels' ABI is written"),
        (["{good}", "--save-temps", "{good}"], "error: {good}: File exists"),
        (["{good}", "--target", "sm_8"], "error: unknown target 'sm_8'; nearest legal: sm_8"),
    ],
)
def test_bad_files(
    arguments: list[str], message: str, tilec: Run, scale: str, tmp_path: Path
) -> None:
    good = tmp_path / "good.mlir"
    good.write_text(scale)
    folder = tmp_path / "folder"
    folder.mkdir()
    names = {"dir": str(folder), "good": str(good)}
    done = tilec(*(a.format(**names) for a in arguments))
    assert done.returncode == 1
    assert message.format(**names) in done.stderr
    assert "Traceback" not in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_folder_without_permission(tilec: Run, scale: str, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    done = tilec("-", "-o", str(tmp_path / "out.ptx"), stdin=scale)
    assert done.returncode == 1
    assert "Permission denied" in done.stderr


def test_failure_leaves_the_old_output(tilec: Run, tmp_path: Path) -> None:
    out = tmp_path / "out.ptx"
    out.write_text("old")
    assert tilec("-", "-o", str(out), stdin="nonsense").returncode == 1
    assert out.read_text() == "old"
    assert list(tmp_path.iterdir()) == [out]


def test_output_to_a_device(tilec: Run, scale: str) -> None:
    done = tilec("-", "-o", "/dev/null", stdin=scale)
    assert (done.returncode, done.stderr) == (0, "")
    assert not Path("/dev/null").is_file()
    assert not Path("/dev/null.json").exists()


def test_ptx_and_how_to_launch_it(tilec: Run, scale: str, tmp_path: Path) -> None:
    done = tilec("-", "-o", str(tmp_path / "out.ptx"), stdin=scale)
    assert (done.returncode, done.stderr) == (0, "")
    assert ".entry scale(" in (tmp_path / "out.ptx").read_text()
    assert json.loads((tmp_path / "out.json").read_text())["kernels"][0]["name"] == "scale"
    assert len(list(tmp_path.iterdir())) == 2


def test_all_outputs_or_none(tilec: Run, scale: str, tmp_path: Path) -> None:
    (tmp_path / "out.json").mkdir()  # where the ABI belongs
    done = tilec("-", "-o", str(tmp_path / "out.ptx"), stdin=scale)
    assert done.returncode == 1
    assert [f.name for f in tmp_path.iterdir()] == ["out.json"]


@pytest.mark.parametrize("flag", ["--emit=asm", "-O4", "--no-such-flag"])
def test_usage(flag: str, tilec: Run) -> None:
    done = tilec(flag)
    assert done.returncode == 2
    assert "error: " in done.stderr


def test_version_is_one_line(tilec: Run) -> None:
    done = tilec("--version")
    assert done.returncode == 0
    assert done.stdout.count("\n") == 1
    assert done.stdout.startswith("tilec ")


def test_closed_pipe(scale: str, tmp_path: Path) -> None:
    source = tmp_path / "scale.mlir"
    source.write_text(scale)
    done = subprocess.run(
        f"{sys.executable} -m tilec.tools.tilec {source} | true",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""


def test_interrupt(tmp_path: Path) -> None:
    """Ctrl-C while the program is awaited, compiled or written: 130, and no file."""
    # A shell's background jobs ignore it, and so would their children.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "tilec.tools.tilec", "-", "-o", str(tmp_path / "out.ptx")],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    signal.signal(signal.SIGINT, before)
    assert process.stdin is not None
    process.stdin.write(" " * (1 << 20))  # more than a pipe holds: it reads standard input by now
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == -signal.SIGINT  # shells say 130
    assert errors == ""
    assert list(tmp_path.iterdir()) == []
