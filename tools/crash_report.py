"""What is said of a tool that MLIR ended: which pass ran, where it is written, how to repeat it.

    python -m tilec.tools.crash_report FILE FAULT < TRACE

`crash_watch` starts it. FILE is the number of the open file that the tool told of its run, FAULT
the first line of what Python's fault handler wrote, and TRACE the rest: the Python that the crash
came from.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

import tilec.passes
from tilec.report.diagnostics import Place, quoted

_FATAL = "Fatal Python error: "
_RUNNERS = ("steps.py", "foreign.py", "pipeline.py")
"""The files of `tilec.passes` that call passes: what is outside them is not a pass's doing."""


class _Frame(NamedTuple):
    """A line of Python that was running."""

    file: str
    line: int
    function: str


def main() -> None:
    """Print the message."""
    number, fault = sys.argv[1:]
    if fault.startswith(_FATAL):
        trace = sys.stdin.buffer.read().decode(errors="replace")
        message = _message(_facts(int(number)), fault.removeprefix(_FATAL), trace)
        os.write(2, message.encode())


def _facts(number: int) -> dict[str, str]:
    """What the tool told last, by name."""
    with open(number, encoding="utf-8") as file:
        file.seek(0)
        told = [line.partition("=") for line in file.read().splitlines()]
    facts: dict[str, str] = {}
    for name, _, value in told:
        with suppress(ValueError):  # there was no room for all of it
            facts[name] = bytes.fromhex(value).decode()
    return facts


def _message(facts: Mapping[str, str], fault: str, trace: str) -> str:
    """What a crash says.

    Args:
        facts: what the tool told.
        fault: what the signal says.
        trace: what Python's fault handler wrote after it.
    """
    name, package = facts.get("name"), facts.get("package")
    who = f"pass '{name}'{f' of {package}' if package else ''}" if name else "the tool"
    message = f"error: {who} crashed in MLIR: {fault}"
    lines: list[str] = []
    for number, frame in enumerate(_frames(trace)):
        at = Place(frame.file, frame.line, 1)
        said = f"note: called here, in {frame.function}" if number else message
        lines += [f"{at}: {said}", *quoted(at)]
    lines = lines or [message]
    path = facts.get("path") or _kept(facts.get("reproducer", ""))
    if path:
        again = facts.get("again", "")
        lines.append(f"note: reproducer generated at {path}; to run it again: {again} {path}")
    return "\n".join(lines) + "\n"


def _frames(trace: str) -> Iterator[_Frame]:
    """The lines of the pass that led to a crash, innermost first."""
    passes = os.path.dirname(tilec.passes.__file__)
    for match in re.finditer(r'^  File "(.+)", line (\d+) in (.+)$', trace, re.MULTILINE):
        file, line, function = match[1], int(match[2]), match[3]
        folder, name = os.path.split(file)
        if folder == passes and name in _RUNNERS:
            return
        if name != "erasure.py" and f"{os.sep}_mlir" not in file:
            yield _Frame(file, line, function)


def _kept(text: str) -> str:
    """The path of a new file with a reproducer; empty if there is none."""
    if not text:
        return ""
    try:
        handle, path = tempfile.mkstemp(prefix="tilec-crash-", suffix=".mlir")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError:
        return ""
    return path


if __name__ == "__main__":
    main()
