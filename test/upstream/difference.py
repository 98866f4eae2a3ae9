"""What a failing test shows, in a line: how another MLIR differs from that it was written for."""

from __future__ import annotations

import re

_FOLDER = re.compile(r"/\S*/(?=[\w.-]+\.mlir)")
_UNKNOWN_FLAG = re.compile(r"Unknown command line argument '([^']*)'")
_CHECK = re.compile(
    r"error: (\S+): (expected string not found in input|is not on the line after.*)"
)
_LONGEST = 160


def difference(output: str) -> str:
    """The difference that a failing test shows.

    Args:
        output: what lit says of it.
    """
    if flag := _UNKNOWN_FLAG.search(output):
        return f"there is no {flag[1]}"
    lines = [_FOLDER.sub("", line.removeprefix("# | ")) for line in output.splitlines()]
    for number, line in enumerate(lines):
        if _CHECK.search(line):
            return _short(f"not in the output: {lines[number + 1].strip()}{_instead(lines)}")
        if "error:" in line and "command failed" not in line:
            return _short(line.partition("error:")[2].strip())
    return _short(lines[-1] if lines else "it fails without a word")


def _instead(lines: list[str]) -> str:
    """What FileCheck takes for the line that was meant."""
    for number, line in enumerate(lines):
        if "possible intended match here" in line and number + 1 < len(lines):
            return f"; but: {lines[number + 1].strip()}"
    return ""


def _short(text: str) -> str:
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
