"""Instructions on registers in LLVM IR, for the lanes of a warp.

What each computes is defined by `tilec.sim.alu`; a form here gives the same bits. What has none is
executed by numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..alu.bits import width
from ..alu.syntax import Qualifiers
from .body import Body, Value, function


@dataclass(frozen=True, slots=True)
class Given:
    """An instruction whose operands are known as far as they are constant.

    Attributes:
        q: what it chose of its form's syntax.
        types: of its operands.
        constants: the value of each operand that is a constant, None of others.
        results: the types of its results.
    """

    opcode: str
    q: Qualifiers
    types: tuple[str, ...]
    constants: tuple[int | None, ...]
    results: tuple[str, ...]


Builder = Callable[[Body, Given, Sequence[Value]], "list[Value] | None"]
"""Writes an instruction; None where it has no form after all."""

_builders: dict[str, list[Builder]] = {}
_literals: dict[str, frozenset[int]] = {}


def form(*opcodes: str, literal: int | None = None) -> Callable[[Builder], Builder]:
    """Declares what writes the instructions of some opcodes; the first that has one does.

    Args:
        opcodes: the opcodes.
        literal: the number of the operand whose value is part of the form, if one is.
    """

    def declare(build: Builder) -> Builder:
        for opcode in opcodes:
            _builders.setdefault(opcode, []).append(build)
            if literal is not None:
                _literals[opcode] = frozenset({literal})
        return build

    return declare


def element(type_: str) -> str:
    """LLVM's type of an element of a register."""
    return f"i{width(type_)}"


def literals(opcode: str) -> frozenset[int]:
    """The operands of an opcode whose values are part of the form."""
    return _literals.get(opcode, frozenset())


def write(name: str, given: Given) -> tuple[str, frozenset[str]] | None:
    """The function of an instruction, and what it declares; None if it has none."""
    for build in _builders.get(given.opcode, ()):
        body = Body()
        operands = [Value(f"%a{n}", element(t)) for n, t in enumerate(given.types)]
        results = build(body, given, operands)
        if results is not None:
            return function(name, body, operands, results), frozenset(body.declared)
    return None
