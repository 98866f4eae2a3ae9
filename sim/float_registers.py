"""Which registers hold floats, and of which type: PTX says of them only how wide they are.

Compilers write constants of f16, and pairs of them, as integers. What they stand for shows in the
instructions that their register, or one that it is moved to, comes from or goes to.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from tilec.isa import Product, TilecError, algebra
from tilec.isa.types import element_type, register_bits

from . import alu
from .alu.algebraic import MOVES, is_float
from .matrix_forms import matrix_form
from .ptx.module import Float, Function, Instruction, Name, Operand, Pair, Vector
from .traits import traits


class FloatRegisters:
    """What the registers of a function hold."""

    def __init__(self, function: Function) -> None:
        self._parents: dict[str, str] = {}
        held: dict[str, set[str]] = defaultdict(set)
        for instruction in function.body or ():
            if instruction.opcode in MOVES:
                self._join(instruction.operands[: MOVES[instruction.opcode]])
            for name, element in _typed(instruction):
                held[name].add(element)
        self._elements: dict[str, set[str]] = defaultdict(set)
        for name, elements in held.items():
            self._elements[self._root(name)] |= elements

    def element(self, operand: Operand) -> str | None:
        """The type of the floats in a register, such as `f16`; None if that is not known."""
        for name in _names(operand):
            found = self._elements.get(self._root(name), set())
            if len(found) == 1:
                return next(iter(found))
        return None

    def _root(self, name: str) -> str:
        while name in self._parents:
            name = self._parents[name]
        return name

    def _join(self, operands: tuple[Operand, ...]) -> None:
        roots = {self._root(name) for operand in operands for name in _names(operand)}
        first, *others = sorted(roots) or [""]
        self._parents.update(dict.fromkeys(others, first))


def _names(operand: Operand) -> Iterator[str]:
    """The registers of an operand."""
    if isinstance(operand, Name):
        yield operand.text
    for item in operand.items if isinstance(operand, Vector) else ():
        yield from _names(item)


def _typed(instruction: Instruction) -> Iterator[tuple[str, str]]:
    """The registers that an instruction takes or gives as floats, and their element's type."""
    try:
        pairs = list(_types(instruction))
    except (TilecError, IndexError, ValueError):
        return  # whoever binds it says what is wrong
    for operand, type_ in pairs:
        element = type_.partition("x")[0]
        if is_float(element):
            yield from ((name, element) for name in _names(operand))


def _types(instruction: Instruction) -> Iterator[tuple[Operand, str]]:
    operands = instruction.operands
    if traits(instruction).matrix:
        form = matrix_form(instruction)
        if isinstance(form, Product):
            named = [form.operand("d"), *form.operands]
            yield from ((o, n.type.name) for o, n in zip(operands, named, strict=False))
    elif instruction.opcode in alu.opcodes() and instruction.opcode not in MOVES and operands:
        results = 2 if isinstance(operands[0], Pair) else 1
        found = alu.signature(instruction.opcode, instruction.modifiers, results, len(operands) - 1)
        yield from zip(operands[1:], found.operands, strict=False)
        yield operands[0], found.results[0]


def embedded(value: int, element: str, bits: int) -> int:
    """The bits that stand for a constant of floats.

    Args:
        value: the constant's bits.
        element: the floats' type.
        bits: of the register, which holds one or several.
    """
    from tilec.isa.dtypes import numpy_type  # noqa: PLC0415 (narrow floats are of few kernels)

    type_ = element_type(element)
    width = register_bits(element)
    found = 0
    for at in range(0, bits, width):
        code = value >> at & ((1 << width) - 1)
        dtype = np.dtype(numpy_type(type_))
        number = np.array([code], f"u{dtype.itemsize}").view(dtype).astype(np.float64)
        found |= (int(algebra.embed(number, width)[0]) & ((1 << width) - 1)) << at
    return found


def literal(value: Float) -> int:
    """The bits that stand for a floating-point literal, of its own width."""
    return embedded(value.bits, f"f{value.width}", value.width)
