"""Declarations of registers, variables and parameters. PTX ISA, "Variables"."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from tilec.isa.types import TYPE_BITS

from .constants import expression, integer
from .cursor import IDENTIFIER, Cursor
from .module import Float, RegisterRange, Scope, Symbol, Variable

_WORD = re.compile(r"\.([A-Za-z_]\w*)")
_VECTOR = re.compile(r"\.v([248])\b")
_PARENTHESES = re.compile(r"\([^()]*\)")
_GENERIC = re.compile(r"generic\s*\(")
_COUNT = re.compile(r"(\d{1,10})\s*>")
_POINTER = re.compile(r"\.(ptr|global|shared|const|local|param|align)\b")
_PARAMETER = re.compile(r"[A-Za-z_$%][\w$]*")
_MAX_NAMES = 4096
_MAX_SIZE = 1 << 32
_OPAQUE = ("texref", "samplerref", "surfref")


def fit(value: int | Float, type_: str) -> int:
    """A constant as the bit pattern of an element."""
    bits = TYPE_BITS[type_]
    if isinstance(value, int):
        return value & ((1 << bits) - 1)
    if value.width == bits:
        return value.bits
    # A decimal constant is a double until it is stored.
    wide = (
        np.array([value.bits], np.uint64).view(np.float64)
        if value.width == 64
        else np.array([value.bits], np.uint32).view(np.float32)
    )
    if type_ == "f32" or bits == 32:
        return int(wide.astype(np.float32).view(np.uint32)[0])
    if type_ == "f16":
        return int(wide.astype(np.float16).view(np.uint16)[0])
    return int(wide.astype(np.float64).view(np.uint64)[0]) & ((1 << bits) - 1)


def _symbol(cursor: Cursor) -> Symbol | None:
    generic = cursor.match(_GENERIC) is not None
    match = cursor.match(IDENTIFIER)
    if match is None:
        return None
    if generic:
        cursor.expect(")", "generic(…")
    offset = 0
    while cursor.peek() in ("+", "-"):
        value = expression(cursor)
        if isinstance(value, Float):
            cursor.fail("an address takes an integer offset, before")
        offset += value
    return Symbol(match[0], offset, generic)


def _values(cursor: Cursor, type_: str, depth: int = 0) -> Iterator[int | Symbol]:
    if depth > 8:
        cursor.fail("initialiser nested too deeply")
    if cursor.accept("{"):
        if cursor.accept("}"):
            return
        while True:
            yield from _values(cursor, type_, depth + 1)
            if cursor.accept("}"):
                return
            cursor.expect(",", "an initial value")
    symbol = _symbol(cursor)
    yield fit(expression(cursor), type_) if symbol is None else symbol


def _type(cursor: Cursor) -> tuple[str, int, int]:
    """Alignment and vector qualifiers and the type: type, vector length, alignment."""
    align, vector = 0, 1
    while True:
        if match := cursor.match(_VECTOR):
            vector = int(match[1])
            continue
        match = cursor.need(_WORD, "a type")
        word = match[1]
        if word == "align":
            align = integer(cursor, "alignment", 1 << 20)
            if align & (align - 1) or not align:
                cursor.source.fail("alignment is not a power of two", match.start())
        elif word == "attribute":
            cursor.need(_PARENTHESES, "attributes in parentheses")
        elif word in TYPE_BITS:
            natural = max(TYPE_BITS[word] // 8, 1) * vector
            return word, vector, align or natural
        elif word in _OPAQUE:
            return "b64", 1, align or 8
        else:
            cursor.source.fail(
                f"unknown type '.{word}'; legal: {', '.join('.' + t for t in TYPE_BITS)}",
                match.start(),
            )


def registers(cursor: Cursor, scope: Scope) -> None:
    """What follows `.reg`, semicolon included."""
    type_, vector, _ = _type(cursor)
    while True:
        start = cursor.skip()
        name = cursor.identifier("a register's name")
        count = None
        if cursor.accept("<"):
            count = int(cursor.need(_COUNT, "a number of registers, as in %r<10>")[1])
        if name in scope.registers:
            cursor.source.fail(f"register '{name}' is declared twice", start)
        scope.registers[name] = RegisterRange(type_, vector, count)
        if cursor.accept(";"):
            return
        cursor.expect(",", "a register's name")


def _array(cursor: Cursor) -> tuple[int, bool]:
    """`[4][8]` or `[]`: number of elements, and whether the first extent is open."""
    count, opened, first = 1, False, True
    while cursor.accept("["):
        if first and cursor.accept("]"):
            opened = True
        else:
            count *= integer(cursor, "extent of an array")
            cursor.expect("]", "the extent of an array")
        first = False
        if count > _MAX_SIZE:
            cursor.fail("array larger than 4 GiB before")
    return count, opened


def variables(cursor: Cursor, space: str) -> list[Variable]:
    """What follows a state space, semicolon included."""
    type_, vector, align = _type(cursor)
    element = max(TYPE_BITS[type_] // 8, 1)
    found = []
    while True:
        start = cursor.skip()
        name = cursor.identifier("a variable's name")
        count, opened = 1, False
        if cursor.accept("<"):  # parameterised names: `.param .b64 p<4>` declares p0 … p3
            number = int(cursor.need(_COUNT, "a number of variables, as in p<4>")[1])
            if number > _MAX_NAMES:
                cursor.source.fail(f"more than {_MAX_NAMES} variables at once", start)
            size = element * vector
            found += [Variable(f"{name}{i}", space, type_, size, align) for i in range(number)]
        else:
            count, opened = _array(cursor)
            values: tuple[int | Symbol, ...] = ()
            if cursor.accept("="):
                values = tuple(_values(cursor, type_))
            if opened:
                count = count * -(-len(values) // (count * vector)) if count else 0
            size = count * vector * element
            if len(values) * element > size:
                cursor.source.fail(f"more initial values than '{name}' has elements", start)
            found.append(
                Variable(name, space, type_, size, align, values, opened and not values, start)
            )
        if cursor.accept(";"):
            return found
        cursor.expect(",", "a variable")


def parameters(cursor: Cursor) -> tuple[Variable, ...]:
    """A list of parameters in parentheses; the opening one is read."""
    found: list[Variable] = []
    if cursor.accept(")"):
        return ()
    while True:
        start = cursor.skip()
        space = cursor.need(_WORD, "'.param' or '.reg'")[1]
        if space not in ("param", "reg"):
            cursor.source.fail("a parameter is declared by .param or .reg", start)
        # `.param .u64 .ptr .global .align 16 name`: the qualifiers follow the type.
        type_, vector, align = _type(cursor)
        while match := cursor.match(_POINTER):
            if match[1] == "align":
                integer(cursor, "alignment", 1 << 20)
        name = cursor.need(_PARAMETER, "a parameter's name")[0]
        count, opened = _array(cursor)
        size = 0 if opened else count * vector * max(TYPE_BITS[type_] // 8, 1)
        found.append(Variable(name, space, type_, size, align, (), opened, start))
        if cursor.accept(")"):
            return tuple(found)
        cursor.expect(",", "a parameter")
