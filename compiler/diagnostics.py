"""Diagnostics as a terminal shows them: `file:line:col: error: …`, the source line, a caret."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec import mlir

if TYPE_CHECKING:
    from tilec.passes.base import Diagnostic

SOURCE = "-"
"""What MLIR calls the text that it was given without a file."""


class Place(NamedTuple):
    """A place in a source file, lines and columns counted from one."""

    file: str
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Source:
    """A source text.

    Attributes:
        name: the file's name as messages show it.
        text: its contents.
    """

    name: str
    text: str

    def line(self, number: int) -> str:
        """Line `number`, counted from one; empty if there is none."""
        lines = self.text.split("\n")
        return lines[number - 1] if 1 <= number <= len(lines) else ""


def places(location: Any) -> Iterator[Place]:
    """The places in files that an MLIR location names, innermost call first."""
    match location:
        case mlir.ir.FileLineColLoc():
            yield Place(location.filename, location.start_line, location.start_col)
        case mlir.ir.CallSiteLoc():
            yield from places(location.callee)
            yield from places(location.caller)
        case mlir.ir.NameLoc():
            yield from places(location.child_loc)
        case mlir.ir.FusedLoc():
            for part in location.locations:
                yield from places(part)


def place(location: Any) -> Place | None:
    """Where `location` is first of all; None if it names no file."""
    return next(places(location), None)


def render(diagnostics: Iterable[Diagnostic], source: Source | None = None) -> str:
    """The diagnostics and their notes as text, one after the other.

    Args:
        diagnostics: what to show.
        source: the program that they speak of, from which source lines are quoted.
    """
    lines: list[str] = []
    for diagnostic in diagnostics:
        lines += _one(diagnostic, source)
        for note in diagnostic.notes:
            lines += _one(note, source)
    return "\n".join(lines) + "\n" if lines else ""


def _one(diagnostic: Diagnostic, source: Source | None) -> Iterator[str]:
    message = f"{diagnostic.severity}: {diagnostic.message}"
    at = place(diagnostic.location)
    if at is None:
        yield message
        return
    own = source is not None and at.file == SOURCE
    file = source.name if source and own else at.file
    if at.line == 0:
        yield f"{file}: {message}"
        return
    yield f"{file}:{at.line}:{at.column}: {message}"
    quoted = source.line(at.line) if source and own else linecache.getline(file, at.line)
    if quoted.strip():
        yield quoted.rstrip("\n")
        yield "".join("\t" if c == "\t" else " " for c in quoted[: at.column - 1]) + "^"
