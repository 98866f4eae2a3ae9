"""Equivalent, since the register has the constant already, on every path to what is left out.

Constants are propagated forward through the text without the instruction: `mov` copies them, any
other instruction that may write a register makes it unknown, and where paths join only what they
agree on is known.
"""

from __future__ import annotations

import bisect

from ..kernels import Kernel
from ..operators import Mutant
from .text import Instruction, instructions, labels

State = dict[str, int]
"""The bits of registers, where known."""


def proves(kernel: Kernel, ptx: str, mutant: Mutant) -> bool:
    """Whether the register that a constant is written to has it without that."""
    del kernel
    left_out = [one for one in instructions(ptx) if one.line == mutant.line]
    if mutant.operator != "no constant" or not left_out:
        return False
    register, value = left_out[0].operands
    state = _states(mutant.text).get(mutant.line)
    return state is not None and state.get(register) == _bits(value)


def _bits(text: str) -> int | None:
    """The bits of a number; None of anything else."""
    if text[:2] in ("0f", "0F"):
        return int(text[2:], 16)
    try:
        return int(text, 0) & 0xFFFFFFFFFFFFFFFF
    except ValueError:
        return None


def _states(text: str) -> dict[int, State]:
    """What is known before each line that is reached, and before the first that follows it."""
    program, targets = instructions(text), labels(text)
    lines = [one.line for one in program]
    before: list[State | None] = [None] * (len(program) + 1)
    before[0], waiting = {}, [0]
    while waiting:
        at = waiting.pop()
        if at == len(program):
            continue
        state = before[at]
        assert state is not None
        after = _after(program[at], state)
        for to in _next(program, at, targets, lines):
            known = before[to]
            joined = (
                after
                if known is None
                else {name: bits for name, bits in known.items() if after.get(name) == bits}
            )
            if joined != known:
                before[to] = joined
                waiting.append(to)
    found: dict[int, State] = {}
    for number in range(1, len(text.splitlines()) + 1):
        state = before[bisect.bisect_left(lines, number)]
        if state is not None:
            found[number] = state
    return found


def _next(
    program: list[Instruction], at: int, targets: dict[str, int], lines: list[int]
) -> list[int]:
    """The instructions that may follow one."""
    one = program[at]
    kind = one.opcode.split(".")[0]
    if kind == "bra":
        to = bisect.bisect_left(lines, targets[one.operands[-1]])
        return [to, at + 1] if one.guard else [to]
    return [at + 1] if one.guard or kind not in {"ret", "exit", "trap"} else []


def _after(one: Instruction, state: State) -> State:
    changed = {name: bits for name, bits in state.items() if name not in one.may_write}
    if one.opcode.startswith("mov.") and not one.guard and len(one.operands) == 2:
        register, source = one.operands
        bits = state.get(source, _bits(source))
        if bits is not None and register.startswith("%"):
            changed[register] = bits
    return changed
