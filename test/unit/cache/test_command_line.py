"""`tilec` with the cache: the same output, and `--cache`.

Against the same commands without a cache.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tilec import cache
from tilec.backend.cubin import tools

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(python: Callable[..., subprocess.CompletedProcess[str]]) -> Run:
    """The command in a process of its own: exit code, output, errors."""

    def command(*arguments: str, stdin: str = "", **variables: str) -> tuple[int, str, str]:
        code = "from tilec.tools.tilec import command; command()"
        done = python(code, *arguments, stdin=stdin, **variables)
        return done.returncode, done.stdout, done.stderr

    return command


def test_output_is_the_same(run: Run, folder: Path, program: Callable[..., str]) -> None:
    outcomes = []
    for variables in ({"TILEC_CACHE": "0"}, {"TILEC_CACHE": "1"}, {"TILEC_CACHE": "1"}):
        out = folder / "out.ptx"
        outcome = run("-", "-o", str(out), "--lineinfo", stdin=program(1), **variables)
        outcomes.append((outcome, out.read_text(), out.with_suffix(".json").read_text()))
        out.unlink()
    assert outcomes[0] == outcomes[1] == outcomes[2]
    assert len(cache.store().rows()) == 1


def test_errors_are_the_same(run: Run, program: Callable[..., str]) -> None:
    text = program(1).replace("arith.addi", "arith.addf")
    first, second = (run("-", stdin=text, TILEC_CACHE=value) for value in "01")
    assert first == second
    assert first[0] == 1
    assert first[2].startswith("<stdin>:8:10: error: ")


@pytest.mark.parametrize("flags", [["--verify-each"], ["--mlir-timing"], ["--emit", "llvm"]])
def test_not_remembered(run: Run, program: Callable[..., str], flags: list[str]) -> None:
    assert run("-", *flags, stdin=program(1), TILEC_CACHE="1")[0] == 0
    assert cache.store().rows() == []


@pytest.mark.skipif(not tools("ptxas"), reason="no ptxas at hand")
def test_list_stats_clear(run: Run, folder: Path, program: Callable[..., str]) -> None:
    place = re.escape(str(folder / "cache"))
    assert run("--cache", "list") == (0, "", "")
    run("-", "--emit", "cubin", "-o", os.devnull, stdin=program(1), TILEC_CACHE="1")
    run("-", stdin=program(2, "sm_90a"), TILEC_CACHE="1")
    _, listed, _ = run("--cache", "list")
    head, *rows = [re.split("  +", line) for line in listed.splitlines()]
    assert head == ["last used", "target", "kind", "bytes", "kernels"]
    assert [(row[1], row[2], row[4]) for row in rows] == [
        ("sm_90a", "ptx", "add2"),
        ("sm_80", "cubin", "add1"),
        ("sm_80", "ptx", "add1"),
    ]
    _, said, _ = run("--cache", "stats")
    assert re.fullmatch(
        rf"folder   {place}\nentries  3 \(1 cubin, 2 ptx\)\nbytes    \d+ of at most 268435456\n",
        said,
    )
    assert run("--cache", "clear") == (0, f"cleared {folder / 'cache'}\n", "")
    assert run("--cache", "list") == (0, "", "")
    _, said, _ = run("--cache", "stats")
    assert "\nentries  0\nbytes    0 of" in said


def test_trouble_is_a_warning(run: Run, folder: Path, program: Callable[..., str]) -> None:
    code, ptx, said = run("-", stdin=program(1), TILEC_CACHE="1", TILEC_CACHE_DIR="/dev/null/x")
    assert code == 0
    assert ptx == run("-", stdin=program(1))[1]
    assert said == (
        "warning: the compile cache is not used: /dev/null/x: Not a directory; "
        "TILEC_CACHE=0 disables it\n"
    )


def test_bad_use(run: Run, folder: Path, program: Callable[..., str]) -> None:
    assert run("--cache", "shrink")[0] == 2
    code, _, said = run("-", stdin=program(1), TILEC_CACHE="on")
    assert (code, said) == (
        1,
        "error: TILEC_CACHE is 'on'; legal: 0 (never), 1 (where possible)\n",
    )
    (folder / "cache").mkdir()
    (folder / "cache" / "compiled-1.sqlite3").write_text("no database")
    code, _, said = run("--cache", "list")
    assert code == 1
    assert re.fullmatch(
        r"error: .* was corrupt \(file is not a database\), so it was recreated\n", said
    )
