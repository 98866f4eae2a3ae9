"""A PTX text: comments blanked, offsets turned into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NoReturn

from tilec.isa.lazy import cached_property

from ..errors import PtxError

_COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|"[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_NOT_NEWLINE = re.compile(r"[^\n]")
_INLINE_ASM = re.compile(r"// begin inline asm\n.*?(?:// end inline asm|\Z)", re.DOTALL)
_LOC = re.compile(r"^[ \t]*\.loc\b[^\n]*", re.MULTILINE)


def _blank(match: re.Match[str]) -> str:
    text = match[0]
    open_ = text.startswith("/*") and (len(text) < 4 or not text.endswith("*/"))
    return text if text[0] == '"' or open_ else _NOT_NEWLINE.sub(" ", text)


def _one_location(match: re.Match[str]) -> str:
    """An inline assembly with its first `.loc` alone.

    LLVM counts the lines of the assembly's text onto the line of the program that it stands in.
    """
    text = match[0]
    first = _LOC.search(text)
    if first is None:
        return text
    head, rest = text[: first.end()], text[first.end() :]
    return head + _LOC.sub(lambda loc: " " * len(loc[0]), rest)


class Source:
    """A PTX text.

    Attributes:
        name: how errors call it.
        original: the text as given.
        text: the same with blanks for every comment, and for every `.loc` that LLVM puts within
            an inline assembly, so that offsets agree.
    """

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.original = text
        self.text = _COMMENT.sub(_blank, _INLINE_ASM.sub(_one_location, text))

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(m.end() for m in re.finditer("\n", self.text))]

    def line(self, offset: int) -> int:
        """Line of an offset, from 1."""
        return bisect_right(self._starts, offset)

    def line_text(self, line: int) -> str:
        """A line as given, without its end."""
        start = self._starts[line - 1]
        return self.original[start:].partition("\n")[0]

    def error(self, reason: str, offset: int, kind: type[PtxError] = PtxError) -> PtxError:
        """An error located at an offset."""
        line = self.line(min(offset, len(self.text)))
        column = offset - self._starts[line - 1] + 1
        return kind(reason, self.name, line, column, self.line_text(line)[:200])

    def fail(self, reason: str, offset: int) -> NoReturn:
        """Raise an error located at an offset."""
        raise self.error(reason, offset)
