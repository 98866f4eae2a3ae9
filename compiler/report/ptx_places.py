"""Where the instructions of PTX come from, where the text itself does not say so.

PTX without `.loc` is made once more with it: LLVM generates the same instructions, so that a line
is found again by its number among them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

_LOC = re.compile(r"\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)")
_FILE = re.compile(r'\s*\.file\s+(\d+)\s+"([^"]*)"')
_ASIDE = re.compile(r"\s*(?:$|//|\.loc\b|\.file\b|\$?[\w$]+:|\.section\b|\.version\b|\.target\b)")
"""Lines that are not instructions, or that line information adds or changes."""
Place: TypeAlias = tuple[str, int, int]
"""A file, a line and a column."""


def places_of(ptx: str, told: str) -> Iterator[tuple[int, Place]]:
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


def _located(told: str) -> Iterator[tuple[str, Place | None]]:
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
