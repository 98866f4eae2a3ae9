"""Bytecode as a list of simple instructions, the same for every version of Python."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

from .words import words

_IDLE = frozenset(
    ("CACHE", "EXTENDED_ARG", "KW_NAMES", "NOP", "PRECALL", "PUSH_NULL", "RESUME"),
)
"""What moves no value that a path goes through."""
_PAIRS = {
    "LOAD_FAST_LOAD_FAST": ("LOAD_FAST", "LOAD_FAST"),
    "STORE_FAST_LOAD_FAST": ("STORE_FAST", "LOAD_FAST"),
    "STORE_FAST_STORE_FAST": ("STORE_FAST", "STORE_FAST"),
}
"""Two in one, since 3.13."""
_SAME = {
    "LOAD_FAST_CHECK": "LOAD_FAST",
    "LOAD_FAST_AND_CLEAR": "LOAD_FAST",
    "RETURN_CONST": "LOAD_CONST",
}
_KNOWN = words(
    """
    LOAD_GLOBAL LOAD_NAME LOAD_DEREF LOAD_CLASSDEREF LOAD_FROM_DICT_OR_DEREF LOAD_CLOSURE
    LOAD_FROM_DICT_OR_GLOBALS LOAD_ATTR LOAD_METHOD LOAD_SUPER_ATTR IMPORT_NAME IMPORT_FROM
    STORE_GLOBAL STORE_NAME STORE_ATTR STORE_DEREF
    DELETE_GLOBAL DELETE_NAME DELETE_ATTR DELETE_DEREF MAKE_CELL
    """
)
"""The instructions that name an attribute, a global or a cell."""
_NAMES = frozenset((*dis.hasname, *dis.hasfree))


class UnknownInstructionError(Exception):
    """A Python of which not every instruction that reads a name is known."""


class Instruction(NamedTuple):
    """An instruction.

    Attributes:
        op: its name.
        value: the name or constant that it takes, else its number.
    """

    op: str
    value: Any


def instructions(code: CodeType) -> Iterator[Instruction]:
    """The instructions of a code object, without those that only serve the interpreter.

    Raises:
        UnknownInstructionError: for one that names something, and that no known version has.
    """
    for one in dis.get_instructions(code):
        op = one.opname
        if op in _IDLE:
            continue
        if one.opcode in _NAMES and op not in _KNOWN:
            raise UnknownInstructionError(op)
        if op in _PAIRS:
            yield from map(Instruction, _PAIRS[op], one.argval)
        else:
            yield Instruction(_SAME.get(op, op), one.argval)
