"""Diagnostics as a terminal shows them: `file:line:col: error: …`, the source line, a caret."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from tilec.ir import mlir

if TYPE_CHECKING:
    from tilec.passes.base import Diagnostic

SOURCE = "-"
"""What MLIR calls the text that it was given without a file."""


class Place(NamedTuple):
    """A place in a source file, lines and columns counted from one."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class Source(NamedTuple):
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


_reports: ContextVar[list[Diagnostic] | None] = ContextVar("reports", default=None)


@contextmanager
def reports() -> Iterator[list[Diagnostic]]:
    """Collects what MLIR reports on tilec's contexts beside the errors that it raises."""
    found: list[Diagnostic] = []
    token = _reports.set(found)
    try:
        yield found
    finally:
        _reports.reset(token)


def reported() -> list[Diagnostic] | None:
    """Where such reports go; None if nobody collects them."""
    return _reports.get()


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
    message = f"{diagnostic.severity}: {diagnostic.message}{_who(diagnostic)}"
    at = place(diagnostic.location)
    if at is None:
        yield message
        return
    own = source is not None and at.file == SOURCE
    file = source.name if source and own else at.file
    if at.line == 0:
        yield f"{file}: {message}"
        return
    yield f"{at._replace(file=file)}: {message}"
    yield from quoted(at._replace(file=file), source if own else None)


def _who(diagnostic: Diagnostic) -> str:
    """The pass that remarks it, as clang names its own."""
    told = diagnostic.severity == "remark" and diagnostic.decided_by
    return f" [{diagnostic.decided_by}]" if told else ""


def quoted(at: Place, source: Source | None = None) -> Iterator[str]:
    """The line of a place and a caret under its column; nothing of an empty or unknown line.

    Args:
        at: the place.
        source: the text that it is in; its file if None.
    """
    line = source.line(at.line) if source else linecache.getline(at.file, at.line)
    if line.strip():
        yield line.rstrip("\n")
        yield "".join("\t" if c == "\t" else " " for c in line[: at.column - 1]) + "^"
