"""Constants and constant expressions. PTX ISA, "Constants" and "Constant Expressions"."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable

from .cursor import Cursor
from .module import Float

_FLOAT = re.compile(r"0[fF]([0-9a-fA-F]{8})(?!\w)|0[dD]([0-9a-fA-F]{16})(?!\w)")
_DECIMAL = re.compile(r"(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9]\d*)U?(?![\w.])")
_WARP = re.compile(r"WARP_SZ\b")
_CAST = re.compile(r"\(\s*\.(s64|u64)\s*\)")
_OPERATOR = re.compile(r"<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%<>&|^?]")

_MASK = (1 << 64) - 1
_MAX_DEPTH = 64
_LONGEST = 66
"""Characters of an integer: `0b` and 64 digits."""

_LEVELS = {
    "||": 1, "&&": 2, "|": 3, "^": 4, "&": 5, "==": 6, "!=": 6, "<": 7, ">": 7, "<=": 7,
    ">=": 7, "<<": 8, ">>": 8, "+": 9, "-": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip

_OPERATIONS: dict[str, Callable[[int, int], int]] = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: (a << (b & 63)) & _MASK,
    ">>": lambda a, b: a >> (b & 63),
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
}


def float64(value: float) -> Float:
    """A decimal constant."""
    return Float(struct.unpack("<Q", struct.pack("<d", value))[0], 64)


def negated(value: Float) -> Float:
    """The constant with its sign flipped."""
    return Float(value.bits ^ (1 << (value.width - 1)), value.width)


def number(cursor: Cursor) -> int | Float | None:
    """An unsigned literal, if one stands here."""
    if match := cursor.match(_FLOAT):
        return Float(int(match[1], 16), 32) if match[1] else Float(int(match[2], 16), 64)
    if match := cursor.match(_DECIMAL):
        return float64(float(match[0]))
    if match := cursor.match(_INTEGER):
        digits = match[1]
        if len(digits) > _LONGEST:
            cursor.source.fail("a constant of more than 64 bits", match.start())
        octal = len(digits) > 1 and digits.isdecimal() and digits[0] == "0"
        value = int(digits, 8 if octal else 0)
        if value > _MASK:
            cursor.source.fail("a constant of more than 64 bits", match.start())
        return value
    if cursor.match(_WARP):
        return 32
    return None


def wrapped(value: int) -> int:
    """A number of bytes as addresses have it, which wrap at 64 bits: from -2^63 to 2^63-1."""
    return (value + (1 << 63) & _MASK) - (1 << 63)


def _integer(cursor: Cursor, value: int | Float) -> int:
    if isinstance(value, Float):
        cursor.fail("this operator takes integers only, before")
    return value


def _unary(cursor: Cursor, depth: int) -> int | Float:
    if depth > _MAX_DEPTH:
        cursor.fail("constant expression nested too deeply")
    if cursor.accept("-"):
        value = _unary(cursor, depth + 1)
        return negated(value) if isinstance(value, Float) else -value
    if cursor.accept("+"):
        return _unary(cursor, depth + 1)
    if cursor.accept("~"):
        return ~_integer(cursor, _unary(cursor, depth + 1))
    if cursor.accept("!"):
        return int(not _integer(cursor, _unary(cursor, depth + 1)))
    if cursor.match(_CAST):
        return _unary(cursor, depth + 1)
    if cursor.accept("("):
        value = expression(cursor, depth + 1)
        cursor.expect(")", "a constant expression")
        return value
    value_here = number(cursor)
    if value_here is None:
        cursor.fail("expected a constant")
    return value_here


def _binary(cursor: Cursor, level: int, depth: int) -> int | Float:
    left = _unary(cursor, depth)
    while True:
        start = cursor.at
        match = cursor.match(_OPERATOR)
        if match is None or _LEVELS.get(match[0], 0) < level:
            cursor.at = start
            return left
        operator = match[0]
        a = _integer(cursor, left)
        b = _integer(cursor, _binary(cursor, _LEVELS[operator] + 1, depth + 1))
        if operator in "/%":
            if b == 0:
                cursor.source.fail("division by zero in a constant expression", start)
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            left = quotient if operator == "/" else a - quotient * b
        else:
            left = _OPERATIONS[operator](a, b)
        if abs(left) > _MASK:
            left &= _MASK


def expression(cursor: Cursor, depth: int = 0) -> int | Float:
    """A constant expression; integers are reduced to 64 bits by whoever stores them."""
    condition = _binary(cursor, 1, depth)
    if cursor.accept("?"):
        chosen = expression(cursor, depth + 1)
        cursor.expect(":", "the first choice")
        other = expression(cursor, depth + 1)
        return chosen if _integer(cursor, condition) else other
    return condition


def integer(cursor: Cursor, what: str, limit: int = 1 << 40) -> int:
    """A constant expression that is an integer of sensible size, such as an extent."""
    start = cursor.skip()
    value = expression(cursor)
    if isinstance(value, Float) or not 0 <= value < limit:
        cursor.source.fail(f"{what} is not an integer between 0 and {limit - 1}", start)
    return value
