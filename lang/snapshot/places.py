"""Places as lines of functions, so that what is kept of a kernel moves along with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_IN_FILE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):')
_IN_FUNCTION = re.compile(r'"<function (\d+)>":(\d+):')


class Span(NamedTuple):
    """Where a function stands.

    Attributes:
        file: what it is in.
        first: its first line, from one.
        last: its last line.
    """

    file: str
    first: int
    last: int


def to_functions(text: str, spans: Sequence[Span]) -> str:
    """Locations as MLIR prints them, `"file.py":12:5`, as lines of the functions they are in."""
    names = [_escaped(span.file) for span in spans]

    def replaced(found: re.Match[str]) -> str:
        line = int(found[2])
        inside = [
            (span.last - span.first, number)
            for number, (span, name) in enumerate(zip(spans, names, strict=True))
            if name == found[1] and span.first <= line <= span.last
        ]
        if not inside:
            return found[0]
        _, number = min(inside)
        return f'"<function {number}>":{line - spans[number].first}:'

    return _IN_FILE.sub(replaced, text)


def to_files(text: str, spans: Sequence[Span]) -> str:
    """What `to_functions` made, for functions that stand elsewhere."""

    def replaced(found: re.Match[str]) -> str:
        span = spans[int(found[1])]
        return f'"{_escaped(span.file)}":{int(found[2]) + span.first}:'

    return _IN_FUNCTION.sub(replaced, text)


def _escaped(name: str) -> str:
    """A file's name as MLIR prints a string."""
    plain = (
        chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}"
        for byte in name.encode("utf-8", "surrogateescape")
    )
    return "".join(plain).replace("\\5C", "\\\\")
