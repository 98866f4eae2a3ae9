"""Kernels whose threads do something else in another order.

A trace has what threads did in the order that ran. They do the same in every order if they wait for
mbarriers in loops until the phase is complete. One that asks once and goes on either way does not.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ..ptx.module import (
    Function,
    Instruction,
    Integer,
    Module,
    Name,
    Negated,
    Operand,
    Pair,
    Sink,
    operand_names,
)
from ..special import is_clock
from ..traits import Flow, Sync, Unit, traits, unit

_MOST = 64
"""Instructions between a wait in vain and the next attempt."""


def asks_once(function: Function) -> Iterator[Instruction]:
    """Waits for mbarriers that are not tried again at once when they were in vain."""
    for index, instruction in enumerate(function.body or ()):
        if traits(instruction).waits and not _tries_again(function, index):
            yield instruction


def reads_clocks(function: Function) -> Iterator[Instruction]:
    """Instructions that read a clock."""
    for instruction in function.body or ():
        if any(map(is_clock, operand_names(instruction.operands))):
            yield instruction


def without_results(module: Module) -> frozenset[int]:
    """Positions of atomics whose results nothing reads."""
    bodies = [function.body or [] for function in module.functions.values()]
    found = []
    for body in bodies:
        named = Counter(name for one in body for name in operand_names(one.operands))
        named.update(one.guard for one in body if one.guard is not None)
        for one in body:
            result = one.operands[0] if one.operands else None
            unused = isinstance(result, Name) and named[result.text] == 1
            if one.opcode == "red" or (one.opcode == "atom" and (unused or result == Sink())):
                found.append(one.position)
    return frozenset(found)


def _tries_again(function: Function, start: int) -> bool:
    """Whether a wait is executed again if it was in vain, before anything that others see."""
    body = function.body or []
    result = body[start].operands[0]
    result = result.first if isinstance(result, Pair) else result
    if body[start].guard is not None or not isinstance(result, Name):
        return False
    known: dict[str, int] = {result.text: 0}
    at = start + 1
    for _ in range(_MOST):
        if at >= len(body):
            return False
        instruction = body[at]
        if traits(instruction).waits:
            return instruction.operands[1:] == body[start].operands[1:]
        taken = _holds(instruction, known)
        if traits(instruction).flow is Flow.BRANCH:
            if taken is None:
                return False
            labels = traits(instruction).labels
            if taken and len(labels) != 1:
                return False
            place = instruction.scope.label(labels[0]) if taken else at + 1
            if place is None:
                return False
            at = place
            continue
        if traits(instruction).flow is not Flow.NEXT or traits(instruction).sync is not Sync.NONE:
            return False
        if unit(instruction) not in (Unit.ARITHMETIC, Unit.CONTROL) or taken is None:
            return False
        if taken:
            _evaluate(instruction, known)
        at += 1
    return False


def _holds(instruction: Instruction, known: dict[str, int]) -> bool | None:
    """Whether an instruction is executed; None if that is not known."""
    if instruction.guard is None:
        return True
    value = known.get(instruction.guard)
    return None if value is None else bool(value) != instruction.negated


def _value(operand: Operand, known: dict[str, int]) -> int | None:
    match operand:
        case Integer():
            return operand.value
        case Name():
            return known.get(operand.text)
        case Negated():
            value = known.get(operand.name.text)
            return None if value is None else int(not value)
        case _:
            return None


def _evaluate(instruction: Instruction, known: dict[str, int]) -> None:
    """Note what an instruction leaves in its result, if that follows from what is known."""
    if not instruction.operands or not isinstance(instruction.operands[0], Name):
        return
    values = [_value(operand, known) for operand in instruction.operands[1:]]
    target, words = instruction.operands[0].text, instruction.modifiers
    found: int | None = None
    match instruction.opcode:
        case "mov":
            found = values[0]
        case "selp" if values[2] is not None:
            found = values[0] if values[2] else values[1]
        case "not" if words == ("pred",) and values[0] is not None:
            found = int(not values[0])
        case "setp" if len(values) == 2 and None not in values and words[0] in ("eq", "ne"):
            found = int((values[0] == values[1]) == (words[0] == "eq"))
        case "and" | "or" | "xor" if len(values) == 2 and None not in values:
            a, b = (int(value or 0) for value in values)
            found = {"and": a & b, "or": a | b, "xor": a ^ b}[instruction.opcode]
    if found is None:
        known.pop(target, None)
    else:
        known[target] = found
