"""Texts made of parts of another: which place is which."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from tilec.isa.lazy import cached_property

from .cursor import Piece


class SourceMap:
    """Places of a text that was made of another's pieces.

    Args:
        source: the text that the pieces come from.
        pieces: of the text that was made, in its order.
    """

    def __init__(self, source: str, pieces: Sequence[Piece]) -> None:
        self._source = source
        self._pieces = pieces

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(piece.text) for piece in self._pieces)]

    @cached_property
    def _lines(self) -> list[int]:
        made = "".join(piece.text for piece in self._pieces)
        return _line_starts(made)

    @cached_property
    def _source_lines(self) -> list[int]:
        return _line_starts(self._source)

    def offset(self, at: int) -> int:
        """The place in the source of a place in the text."""
        number = min(bisect_right(self._starts, at), len(self._pieces)) - 1
        inside = at - self._starts[number]
        if self._pieces[number].at >= 0:
            return min(self._pieces[number].at + inside, len(self._source))
        for following in self._pieces[number + 1 :]:
            if following.at >= 0:
                return following.at
        return len(self._source)

    def place(self, line: int, column: int) -> tuple[int, int]:
        """Line and column in the source of those in the text, all counted from one."""
        if not 1 <= line <= len(self._lines):
            return line, column
        return line_and_column(self._source_lines, self.offset(self._lines[line - 1] + column - 1))


def _line_starts(text: str) -> list[int]:
    starts, at = [0], text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def line_and_column(starts: Sequence[int], at: int) -> tuple[int, int]:
    """Line and column of a place, both counted from one."""
    line = bisect_right(starts, at)
    return line, at - starts[line - 1] + 1


def place_in(text: str, at: int) -> tuple[int, int]:
    """Line and column of a place in `text`, both counted from one."""
    return line_and_column(_line_starts(text), at)
