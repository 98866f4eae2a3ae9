"""Attributes that text may spell shorter than MLIR does.

The class of an attribute that has one parameter, a string, declares its `short_form`: under another
mnemonic stands what says the same. In the tile dialect `#tile.operand<c, m16n8>` is the
`#tile.layout<"…">` that writes out the layout of an accumulator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from tilec.ir.mlir import ext
from tilec.isa.errors import TilecError

from .cursor import Piece
from .scan import COMMENT, STRING

_ALIAS = re.compile(r"[ \t]*[#!][\w$.-]+[ \t]*=")


class ShortForm(NamedTuple):
    """How an attribute whose parameter is a string may be written.

    Attributes:
        mnemonic: what stands in place of the attribute's own.
        shorten: gives of the string what stands in the brackets, None where that is not shorter.
        expand: gives the string again; raises TilecError for what means nothing.
    """

    mnemonic: str
    shorten: Callable[[str], str | None]
    expand: Callable[[str], str]


class _Known(NamedTuple):
    """Of an attribute with a short form: how text spells it."""

    full: str
    short: str
    form: ShortForm

    @property
    def spellings(self) -> re.Pattern[str]:
        """Finds it in what MLIR prints; what is in strings is found as such."""
        return re.compile(rf'#{re.escape(self.full)}<"([^"\\]*)">|{STRING}')

    @property
    def shorts(self) -> re.Pattern[str]:
        """Finds its short form in what users write."""
        return re.compile(rf"#{re.escape(self.short)}<([^<>\n]*)>|{STRING}|{COMMENT}")


def _known() -> tuple[_Known, ...]:
    dialects = ext.Dialect.__subclasses__()
    return _known_of(tuple((dialect, len(dialect.attributes)) for dialect in dialects))


@lru_cache(maxsize=1)
def _known_of(dialects: tuple[tuple[type[ext.Dialect], int], ...]) -> tuple[_Known, ...]:
    return tuple(
        _Known(
            getattr(attribute, "attr_name", ""),
            f"{dialect.DIALECT_NAMESPACE}.{form.mnemonic}",
            form,
        )
        for dialect, _ in dialects
        for attribute in dialect.attributes
        if isinstance(form := getattr(attribute, "short_form", None), ShortForm)
    )


def shortened(text: str) -> str:
    """`text`, which MLIR printed, with short forms where there are."""
    for one in _known():
        if f"#{one.full}<" in text:
            text = one.spellings.sub(partial(_shorter, one), text)
    return text


def _shorter(one: _Known, found: re.Match[str]) -> str:
    name = None if found[1] is None else one.form.shorten(found[1])
    return found[0] if name is None else f"#{one.short}<{name}>"


class ShortFormError(Exception):
    """A short form that means nothing, and where it stands."""

    def __init__(self, at: int, message: str) -> None:
        super().__init__(message)
        self.at = at


def expanded(text: str) -> tuple[Sequence[Piece], set[int]] | None:
    """`text` with short forms written out, in pieces; None if it has none.

    Returns:
        The pieces, and the lines, counted from one, on which what has a place may stand after one.

    Raises:
        ShortFormError: for one that means nothing.
    """
    used = [one for one in _known() if f"#{one.short}<" in text]
    found = sorted(
        ((match.start(), match.end(), one, match[1]) for one in used for match in _uses(one, text)),
        key=lambda use: use[0],
    )
    if not found:
        return None
    pieces: list[Piece] = []
    start, moved = 0, set[int]()
    for begin, end, one, name in found:
        pieces.append(Piece(text[start:begin], start))
        try:
            pieces.append(Piece(f'#{one.full}<"{one.form.expand(name)}">', begin))
        except TilecError as error:
            raise ShortFormError(begin, str(error)) from None
        if not _ALIAS.match(text, text.rfind("\n", 0, begin) + 1):
            moved.add(text.count("\n", 0, begin) + 1)
        start = end
    pieces.append(Piece(text[start:], start))
    return pieces, moved


def _uses(one: _Known, text: str) -> Iterator[re.Match[str]]:
    return (match for match in one.shorts.finditer(text) if match[1] is not None)
