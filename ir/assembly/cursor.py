"""Reading tokens one after the other, with errors at their places."""

from __future__ import annotations

import re
from typing import NamedTuple

from .scan import STRING, VALUE, attribute_end, bracketed_end, skip_space, type_end

_VALUE = re.compile(VALUE)
_RESULTS = re.compile(rf"{VALUE}(?::\d+)?(?:\s*,\s*{VALUE}(?::\d+)?)*\s*=")
_KEY = re.compile(rf"[A-Za-z_][\w$.]*|{STRING}")
_KEYWORD = re.compile(r"[A-Za-z_][\w$]*(?:(?:\.|::)[A-Za-z_0-9][\w$]*)*")
_SYMBOL = re.compile(rf"@([A-Za-z_][\w$.-]*|{STRING})")
_NUMBERS = re.compile(r"\[([\s\d,-]*)\]")


class SyntaxProblem(Exception):  # noqa: N818 (becomes a diagnostic)
    """What is wrong with a text, and at which place in it."""

    def __init__(self, at: int, message: str) -> None:
        self.at = at
        super().__init__(message)


class Piece(NamedTuple):
    """A part of a text.

    Attributes:
        text: the part, as it is or as it is to be.
        at: where it stands in the text it comes from; -1 if it does not.
    """

    text: str
    at: int = -1


class Cursor:
    """A place in a text, which reading moves after what was read.

    Every method that returns something raises `SyntaxProblem` if it is not there.
    """

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.end = at
        """After the last token."""
        self.at = skip_space(text, at)
        """The next one."""

    def _take(self, end: int) -> Piece:
        piece = Piece(self.text[self.at : end], self.at)
        self._pass(end)
        return piece

    def _pass(self, end: int) -> None:
        self.end = end
        self.at = skip_space(self.text, end)

    def problem(self, message: str) -> SyntaxProblem:
        """An error at the next token; after the last one if that is on a later line."""
        later = "\n" in self.text[self.end : self.at]
        return SyntaxProblem(self.end if later else self.at, message)

    def sees(self, spelling: str) -> bool:
        """Whether `spelling` is the next token."""
        if not self.text.startswith(spelling, self.at):
            return False
        if not spelling[-1].isidentifier():
            return True
        behind = self.text[self.at + len(spelling) : self.at + len(spelling) + 1]
        return not (behind.isalnum() or behind in ("_", "$", "."))

    def accept(self, spelling: str) -> bool:
        """Whether `spelling` was the next token, and has been read."""
        if not self.sees(spelling):
            return False
        self._pass(self.at + len(spelling))
        return True

    def expect(self, spelling: str) -> None:
        """Read `spelling`."""
        if not self.accept(spelling):
            raise self.problem(f"expected '{spelling}'")

    def sees_value(self) -> bool:
        """Whether an SSA value is next."""
        return self.text.startswith("%", self.at)

    def value(self) -> Piece:
        """An SSA value."""
        found = _VALUE.match(self.text, self.at)
        if not found:
            raise self.problem("expected SSA operand")
        return self._take(found.end())

    def values(self) -> list[Piece]:
        """SSA values between commas, or none; the results of the op after are none of them."""
        if not self.sees_value() or _RESULTS.match(self.text, self.at):
            return []
        found = [self.value()]
        while self.sees(","):
            comma = self.at
            self.accept(",")
            if not self.sees_value():
                self.end, self.at = self._back(comma), comma
                break
            found.append(self.value())
        return found

    def _back(self, at: int) -> int:
        return len(self.text[:at].rstrip())

    def type(self) -> Piece:
        """A type."""
        end = type_end(self.text, self.at)
        if end is None:
            raise self.problem("expected non-function type")
        return self._take(end)

    def types(self, closing: str = "") -> list[Piece]:
        """Types between commas; none where `closing` is next."""
        if closing and self.sees(closing):
            return []
        found = [self.type()]
        while self.accept(","):
            found.append(self.type())
        return found

    def attribute(self, *, typed: bool) -> Piece:
        """An attribute."""
        end = attribute_end(self.text, self.at, typed=typed)
        if end is None:
            raise self.problem("expected attribute value")
        return self._take(end)

    def keyword(self) -> Piece:
        """A string attribute written as a bare word, or as a string."""
        if self.text.startswith('"', self.at):
            return self.attribute(typed=False)
        found = _KEYWORD.match(self.text, self.at)
        if not found:
            raise self.problem("expected keyword or string")
        word = self._take(found.end())
        return Piece(f'"{word.text}"', word.at)

    def symbol(self) -> Piece:
        """A symbol's name, as a string attribute."""
        found = _SYMBOL.match(self.text, self.at)
        if not found:
            raise self.problem("expected symbol name such as '@name'")
        self._take(found.end())
        name = found[1]
        return Piece(name if name.startswith('"') else f'"{name}"', found.start())

    def numbers(self) -> Piece:
        """`[1, 2]`, as `array<i64: 1, 2>`."""
        found = _NUMBERS.match(self.text, self.at)
        if not found:
            raise self.problem("expected a list of integers such as '[1, 0]'")
        self._take(found.end())
        inside = found[1].strip()
        return Piece(f"array<i64: {inside}>" if inside else "array<i64>", found.start())

    def dictionary(self) -> list[tuple[Piece, Piece | None]]:
        """`{name = value, unit}`: names, values or None."""
        self.expect("{")
        entries: list[tuple[Piece, Piece | None]] = []
        while not self.accept("}"):
            if entries:
                self.expect(",")
            key = _KEY.match(self.text, self.at)
            if not key:
                raise self.problem("expected attribute name")
            name = self._take(key.end())
            entries.append((name, self.attribute(typed=True) if self.accept("=") else None))
        return entries

    def braced(self) -> Piece:
        """All from the brace at the cursor to that which closes it."""
        if not self.sees("{"):
            raise self.problem("expected '{' to begin a region")
        end = bracketed_end(self.text, self.at)
        if end is None:
            raise self.problem("this '{' is not closed")
        return self._take(end)
