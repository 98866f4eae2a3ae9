"""The text of an op, with the spaces that MLIR's own printers put."""

from __future__ import annotations

_TIGHT = frozenset("<>(){}[],")
_OPENING = frozenset("<({[")


class Output:
    """Collects tokens."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._space = True
        self._punctuation = False

    def literal(self, text: str) -> None:
        """A word or punctuation of the format."""
        first, single = text[:1], len(text) == 1
        tight = single and first in (frozenset(">)}],") if self._punctuation else _TIGHT)
        self._put(text, space=self._space and not tight)
        self._space = not (single and first in _OPENING)
        self._punctuation = not (first.isalpha() or first == "_")

    def text(self, text: str) -> None:
        """A value, a type, an attribute."""
        self._put(text, space=self._space)
        self._space, self._punctuation = True, False

    def _put(self, text: str, *, space: bool) -> None:
        self._parts.append(f" {text}" if space else text)

    def __str__(self) -> str:
        return "".join(self._parts)
