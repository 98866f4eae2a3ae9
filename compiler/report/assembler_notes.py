"""What ptxas notes of a module, told at the operations that the lines of PTX come from.

PTX without `.loc` is made once more with it: LLVM generates the same instructions, so that a line
is found again by its number among them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from tilec.backend.cubin import Note
from tilec.ir.mlir import ir
from tilec.passes.base import Diagnostic, RemarkKind, walk
from tilec.passes.functions import is_kernel

_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
_ASIDE = re.compile(r"\s*(?:$|//|\.loc\b|\.file\b|\$?[\w$]+:|\.section\b|\.version\b|\.target\b)")
"""Lines that are no instructions, or that line information adds or changes."""


def assembler_remarks(
    notes: Sequence[Note], module: ir.Module, ptx: str, with_places: Callable[[], str]
) -> list[Diagnostic]:
    """The notes of ptxas at their operations; at their kernel, or nowhere, where none is known.

    Args:
        notes: what it has to say.
        module: the program.
        ptx: what was assembled.
        with_places: makes the same with `.loc`.
    """
    places = dict(_places(ptx, with_places())) if any(one.line for one in notes) else {}
    with module.context:
        return [_diagnostic(module, note, places) for note in notes]


def _diagnostic(
    module: ir.Module, note: Note, places: Mapping[int, tuple[str, int, int]]
) -> Diagnostic:
    at = places.get(note.line)
    location = _kernel(module, note.function) if at is None else ir.Location.file(*at)
    return Diagnostic(
        location,
        f"ptxas: {note.message}",
        note.severity,
        decided_by="ptxas",
        kind=RemarkKind.ANALYSIS,
        function=note.function,
        advice=True,
    )


def _kernel(module: ir.Module, name: str) -> ir.Location | None:
    """Where a kernel is defined."""
    for op in walk(module.operation):
        symbol = op.attributes.get("sym_name")
        if isinstance(symbol, ir.StringAttr) and symbol.value == name and is_kernel(op):
            return op.location
    return None


def _places(ptx: str, told: str) -> Iterator[tuple[int, tuple[str, int, int]]]:
    """Of lines of PTX, counted from one, file, line and column that the same with `.loc` gives."""
    located = _located(told)
    for number, line in enumerate(ptx.splitlines(), 1):
        if _ASIDE.match(line):
            continue
        text, place = next(located, ("", None))
        if text != line.strip():
            return  # it is not the same code from here on
        if place is not None:
            yield number, place


def _located(told: str) -> Iterator[tuple[str, tuple[str, int, int] | None]]:
    """The instructions of PTX with `.loc`, and the place of each."""
    files = {int(n): name for n, name in _FILE.findall(told)}
    place, inside, seen = None, False, False
    for line in told.splitlines():
        loc = _LOC.match(line)
        # Within inline assembly LLVM counts its lines onto the program's: the first one counts.
        if loc is not None and not (inside and seen):
            number, row, column = map(int, loc.groups())
            place = (files[number], row, column) if number in files and row else None
            seen = inside
        if "begin inline asm" in line:
            inside, seen = True, False
        elif "end inline asm" in line:
            inside = False
        if not _ASIDE.match(line):
            yield line.strip(), place
