"""Write commands.md from the arguments of the commands.

    python docs/make_commands.py [--check]

With --check nothing is written, and the exit code says whether the file is up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator

from generated import table, write_or_check
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

_INTRODUCTION = """\
# Commands

Written by `docs/make_commands.py` from the commands' own arguments; do not edit. `--help` prints
the same with examples, `--version` the version, and `--completion SHELL` what completes a command's
arguments in bash, zsh or fish, as by `source <(tilec --completion bash)`.

Files are named, or `-` for standard input and output. Diagnostics go to standard error, as
`file:line:col: error: …` where there is a place, on a terminal in colours unless `NO_COLOR` is set.
Exit code 1 is for a failure, 2 for wrong usage, 130 for Ctrl-C; a command that fails leaves no
output file.
"""

_EVERYWHERE = ("help", "version", "completion")

_TOOLS = (
    *(tilec, tile_opt, tile_translate, tile_reduce, tile_run, tile_layout, tile_isa),
    *(tile_tune, tile_lsp_server, tile_new_pass, update_tile_test_checks),
)


def _sections() -> Iterator[str]:
    for tool in _TOOLS:
        parser = tool.parser()
        yield _section(parser, 2)
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                for sub in action.choices.values():
                    yield _section(sub, 3)
        if tool is tile_layout:
            yield _section(tool.smem_parser(), 3)


def _section(parser: argparse.ArgumentParser, level: int) -> str:
    what = re.sub(r"^`[\w-]+`: ", "", (parser.description or "").strip())
    rows = [_row(a) for a in parser._actions if a.dest not in _EVERYWHERE]
    rows = [row for row in rows if row[1]]
    text = f"\n{'#' * level} {parser.prog}\n\n{what[0].upper()}{what[1:].rstrip('.')}.\n"
    return text + ("\n" + table(("argument", "what"), rows) if rows else "")


def _row(action: argparse.Action) -> tuple[str, str]:
    name = ", ".join(action.option_strings)
    choices = "{" + ",".join(map(str, action.choices)) + "}" if action.choices else ""
    metavar = action.metavar or choices or action.dest.upper()
    value = "" if action.nargs == 0 else metavar if name else action.metavar or action.dest
    value = " ".join(value) if isinstance(value, tuple) else str(value)
    if isinstance(action, argparse._SubParsersAction):
        return "", ""
    shown = f"`{f'{name} {value}'.strip()}`".replace("|", "\\|")
    return shown, _choices(action, (action.help or "").replace("|", "\\|"))


def _choices(action: argparse.Action, text: str) -> str:
    """The help, or where there is none the default."""
    if text:
        return text
    return f"default: `{action.default}`" if action.default is not None else "–"


def document() -> str:
    """The whole file."""
    return _INTRODUCTION + "".join(_sections())


if __name__ == "__main__":
    sys.exit(write_or_check(__file__, __doc__ or "", document))
