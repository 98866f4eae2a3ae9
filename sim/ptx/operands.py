"""Operands of instructions, from the text between the mnemonic and the semicolon."""

from __future__ import annotations

import re

from .constants import expression, wrapped
from .cursor import Cursor
from .module import (
    Address,
    Arguments,
    Float,
    Integer,
    Minus,
    Name,
    Negated,
    Operand,
    Pair,
    Sink,
    Vector,
)

_NAME = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)(?:\.([a-z]\w*)(?:::\w+)?)?")
_SINK = re.compile(r"_(?![\w$])")
_WARP_SIZE = re.compile(r"WARP_SZ\b")
_SIGN = re.compile(r"[+-]")
_OPEN_GROUP = re.compile(r"\((?=\s*(?:[%_$A-Za-z]|\)))")
_MAX_DEPTH = 2


def _name(cursor: Cursor) -> Name | None:
    if _WARP_SIZE.match(cursor.text, cursor.skip()):
        return None
    match = cursor.match(_NAME)
    return Name(match[1], match[2] or "") if match else None


def _list(cursor: Cursor, close: str, depth: int) -> tuple[Operand, ...]:
    if depth > _MAX_DEPTH:
        cursor.fail("lists nested too deeply")
    items: list[Operand] = []
    if cursor.accept(close):
        return ()
    while True:
        items.append(operand(cursor, depth + 1))
        if cursor.accept(close):
            return tuple(items)
        cursor.expect(",", "an element of a list")


def _offset(cursor: Cursor) -> int:
    """What follows a base: `+16`, `-16`, `+-16`, or nothing."""
    total = 0
    while _SIGN.match(cursor.text, cursor.skip()):
        negative = cursor.accept("-")
        if not negative:
            cursor.accept("+")
        value = expression(cursor)
        if isinstance(value, Float):
            cursor.fail("an address takes an integer offset, before")
        total += -value if negative else value
    return wrapped(total)


def _address(cursor: Cursor, depth: int) -> Address:
    base = _name(cursor)
    if base is None:
        value = expression(cursor)
        if isinstance(value, Float):
            cursor.fail("an address is an integer, before")
        offset = wrapped(value)
    else:
        offset = _offset(cursor)
    if cursor.accept(","):
        return Address(base, offset, _list(cursor, "]", depth))
    cursor.expect("]", "an address")
    return Address(base, offset)


def operand(cursor: Cursor, depth: int = 0) -> Operand:
    """One operand, `depth` lists deep."""
    if cursor.accept("{"):
        return Vector(_list(cursor, "}", depth))
    if cursor.accept("["):
        return _address(cursor, depth)
    if cursor.match(_OPEN_GROUP):
        return Arguments(_list(cursor, ")", depth))
    if cursor.match(_SINK):
        return _paired(cursor, Sink())
    for sign, kind in (("!", Negated), ("-", Minus)):
        if cursor.peek() == sign:
            start = cursor.at
            cursor.accept(sign)
            name = _name(cursor)
            if name is not None:
                return kind(name)
            cursor.at = start
    name = _name(cursor)
    if name is not None:
        offset = _offset(cursor)
        if offset:
            name = Name(name.text, name.component, offset)
        return _paired(cursor, name)
    value = expression(cursor)
    return value if isinstance(value, Float) else Integer(value)


def _paired(cursor: Cursor, first: Operand) -> Operand:
    if not cursor.accept("|"):
        return first
    if cursor.match(_SINK):
        return Pair(first, Sink())
    second = _name(cursor)
    if second is None:
        cursor.fail("expected a second destination after '|'")
    return Pair(first, second)


def operands(cursor: Cursor) -> tuple[Operand, ...]:
    """The operands up to the semicolon, which is read."""
    if cursor.accept(";"):
        return ()
    found = []
    while True:
        found.append(operand(cursor))
        if cursor.accept(";"):
            return tuple(found)
        cursor.expect(",", "an operand")


_PIECE = re.compile(
    r"\s*(?:(\{[^{}\[\]()]*\})|\[\s*([%\w$]+)\s*(?:\+\s*(0|[1-9]\d{0,17}))?\s*\]|"
    r"([%$A-Za-z][\w$]*(?:\.[xyz])?)|(-?(?:0|[1-9]\d{0,17})))\s*([,;])"
)
"""What nearly every operand is: a flat vector, a plain address, a name, a decimal integer."""


class OperandReader:
    """Reads operands fast: the common kinds by one expression, and each name once."""

    def __init__(self) -> None:
        self._names: dict[str, Name] = {}

    def _name(self, text: str) -> Name:
        name = self._names.get(text)
        if name is None:
            base, _, component = text.partition(".")
            name = self._names[text] = Name(base, component)
        return name

    def read(self, cursor: Cursor) -> tuple[Operand, ...]:
        """The operands up to the semicolon, which is read."""
        at, text = cursor.at, cursor.text
        found: list[Operand] = []
        while True:
            match = _PIECE.match(text, at)
            if match is None:
                return operands(cursor)
            vector, base, offset, name, digits, end = match.groups()
            if name is not None:
                if name == "WARP_SZ":
                    return operands(cursor)
                found.append(self._name(name))
            elif base is not None:
                if base[0].isdecimal():
                    return operands(cursor)
                found.append(Address(self._name(base), int(offset or 0)))
            elif vector is not None:
                items = [item.strip() for item in vector[1:-1].split(",")]
                if not all(map(_PLAIN.fullmatch, items)):
                    return operands(cursor)
                found.append(Vector(tuple([self._name(item) for item in items])))
            else:
                found.append(Integer(int(digits)))
            at = match.end()
            if end == ";":
                cursor.at = at
                return tuple(found)


_PLAIN = re.compile(r"[%$A-Za-z][\w$]*")
