"""What a terminal and a shell get of the commands: colours, and completion, as bash does it."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tilec.isa import TARGETS
from tilec.tools import (
    tile_isa,
    tile_layout,
    tile_lsp_server,
    tile_new_pass,
    tile_opt,
    tile_reduce,
    tile_run,
    tile_translate,
    tile_tune,
    tilec,
    update_tile_test_checks,
)
from tilec.tools.completion import Shell, completion

TOOLS = (
    *(tilec, tile_opt, tile_translate, tile_reduce, tile_run, tile_layout, tile_isa),
    *(tile_tune, tile_lsp_server, tile_new_pass, update_tile_test_checks),
)
WRONG = "module {\n  %0 = arith.constant 1 : i33x\n}\n"
CODES = re.compile(r"\033\[[\d;]*m")


def on_a_terminal(file: Path, **environment: str) -> str:
    """What `tilec` says of a program where standard error is a terminal."""
    terminal, end = pty.openpty()
    given = {**os.environ, "TERM": "xterm", **environment}
    given = {name: value for name, value in given.items() if value}
    command = [sys.executable, "-m", "tilec", str(file)]
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=end, env=given, check=False)
    os.close(end)
    said = b""
    try:
        while part := os.read(terminal, 4096):
            said += part
    except OSError:  # Linux ends so
        pass
    os.close(terminal)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("text", [WRONG, None], ids=["a place", "no file"])
def test_errors_are_coloured_on_a_terminal(text: str | None, tmp_path: Path) -> None:
    file = tmp_path / "a.mlir"
    if text is not None:
        file.write_text(text, encoding="utf-8")
    coloured = on_a_terminal(file, NO_COLOR="")
    plain = on_a_terminal(file, NO_COLOR="1")
    assert "\033[1;31merror:\033[0m" in coloured
    assert CODES.sub("", coloured) == plain
    for terminal in ("dumb", ""):
        assert "\033" not in plain + on_a_terminal(file, NO_COLOR="", TERM=terminal)
    if text is not None:
        assert f"\033[1m{file}:2:" in coloured
        assert "\033[1;32m^\033[0m" in coloured


def completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last of these words."""
    lines = (
        f"COMP_WORDS=({' '.join(map(repr, words))})",
        f"COMP_CWORD={len(words) - 1}",
        f"_{words[0].replace('-', '_')}",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script + "\n".join(lines)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes() -> None:
    script = completion(tilec.parser(), Shell.BASH)
    assert completed(script, "tilec", "--emi") == ["--emit", "--emit-irdl"]
    assert completed(script, "tilec", "--emit", "s") == ["sass"]
    assert completed(script, "tilec", "--target", "sm_9") == [
        name for name in TARGETS if name.startswith("sm_9")
    ]
    isa = completion(tile_isa.parser(), Shell.BASH)
    assert completed(isa, "tile-isa", "sho") == ["show"]
    assert "--family" in completed(isa, "tile-isa", "list", "--fam")


@pytest.mark.parametrize("shell", list(Shell))
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.__name__.rpartition(".")[2])
def test_every_flag_is_completed(tool, shell: Shell) -> None:
    parser = tool.parser()
    script = completion(parser, shell)
    for flag in parser._option_string_actions:
        name = flag.lstrip("-") if shell is Shell.FISH else flag
        assert re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script), flag
    if shell is not Shell.FISH and shutil.which("bash"):
        checked = subprocess.run(["bash", "-n"], input=script, text=True, check=False)
        assert checked.returncode == 0


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        tilec.main(["--completion", "zsh"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == completion(tilec.parser(), Shell.ZSH)


def test_help_has_groups_and_examples(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        tilec.main(["--help"])
    said = capsys.readouterr().out
    for group in ("output:", "compilation:", "information, instead of a compilation:", "remarks:"):
        assert f"\n{group}\n" in said
    assert "\nexamples:\n  tilec " in said
    assert said.startswith("usage: tilec [options] [input]\n")
