"""A place in a text that moves forward as it is read."""

from __future__ import annotations

import re
from typing import NoReturn

from .source import Source

_BLANK = re.compile(r"\s*")
_WORD = re.compile(r"\S{1,20}")
IDENTIFIER = re.compile(r"[A-Za-z][\w$]*|[_$%][\w$]+")
"""A PTX identifier."""


class Cursor:
    """Reads a source by regular expressions, skipping blanks before each.

    Attributes:
        source: the text.
        at: offset of the next character.
    """

    __slots__ = ("at", "source", "text")

    def __init__(self, source: Source, at: int = 0) -> None:
        self.source = source
        self.text = source.text
        self.at = at

    def skip(self) -> int:
        """Move over blanks; the offset after them."""
        match = _BLANK.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        self.skip()
        return self.text[self.at : self.at + 1]

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what a pattern matches here, if it does."""
        match = pattern.match(self.text, self.skip())
        if match:
            self.at = match.end()
        return match

    def accept(self, symbol: str) -> bool:
        """Read a symbol if it stands here."""
        if self.text.startswith(symbol, self.skip()):
            self.at += len(symbol)
            return True
        return False

    def expect(self, symbol: str, after: str) -> None:
        """Read a symbol that must stand here."""
        if not self.accept(symbol):
            self.fail(f"expected '{symbol}' after {after}")

    def need(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        """Read what must stand here."""
        match = self.match(pattern)
        if match is None:
            self.fail(f"expected {what}")
        return match

    def identifier(self, what: str) -> str:
        """Read an identifier."""
        return self.need(IDENTIFIER, what)[0]

    def fail(self, reason: str) -> NoReturn:
        """Raise an error that says what stands here instead."""
        self.skip()
        word = _WORD.match(self.text, self.at)
        found = f"'{word[0]}'" if word else "the end of the text"
        self.source.fail(f"{reason}, found {found}", self.at)
