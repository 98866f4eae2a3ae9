"""Registers that products of warpgroups use, and whoever else touches them.

A product is asynchronous: until a wait covers it, its registers are not to be touched. Compilers
copy them about all the same, before the assembler makes one register of a chain of copies; so a
plain `mov` only hands on what is known of its source.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .binding import Binding
from .machine import Step
from .ptx.module import Function, Instruction, Name, Operand, Vector, operand_names

if TYPE_CHECKING:
    from .checks.warpgroups import Warpgroups


def _is_product(instruction: Instruction) -> bool:
    return instruction.opcode == "wgmma" and "mma_async" in instruction.modifiers


def _copy(instruction: Instruction) -> tuple[str, str] | None:
    """Target and source of a copy from register to register."""
    if instruction.opcode != "mov" or len(instruction.operands) != 2:
        return None
    to, from_ = instruction.operands
    if isinstance(to, Name) and isinstance(from_, Name) and not from_.component:
        return to.text, from_.text
    return None


def tracked(function: Function) -> frozenset[str]:
    """Names of the registers that products use, and of those that they are copied from and to."""
    body = function.body or []
    found: set[str] = set()
    for instruction in body:
        if _is_product(instruction):
            vectors = [o for o in instruction.operands[:2] if isinstance(o, Vector)]
            found.update(operand_names(vectors))
    copies = [names for names in map(_copy, body) if names is not None] if found else []
    size = -1
    while size != len(found):
        size = len(found)
        for to, from_ in copies:
            if to in found or from_ in found:
                found |= {to, from_}
    return frozenset(found)


def watched(binding: Binding, step: Step, watch: Warpgroups, names: frozenset[str]) -> Step:
    """A step that tells which of the registers it touches."""
    instruction = binding.instruction
    if not names or _is_product(instruction):
        return step
    copied = _copy(instruction)
    slot = binding.slot_of
    if copied is not None and copied[0] in names:
        to, from_ = slot(copied[0]), slot(copied[1])
        if to is not None and from_ is not None:

            def move() -> None:
                watch.move(from_, to)
                step()

            return move
    touched = _slots(binding, instruction.operands, names)
    written = [slot for slot in touched if slot in binding.written]
    read = [slot for slot in touched if slot in binding.read or slot in binding.addressed]
    if not written and not read:
        return step

    def touch() -> None:
        watch.touch(instruction, read, written)
        step()

    return touch


def _slots(binding: Binding, operands: Iterable[Operand], names: frozenset[str]) -> list[int]:
    slots = (binding.slot_of(name) for name in operand_names(operands) if name in names)
    return [slot for slot in slots if slot is not None]
