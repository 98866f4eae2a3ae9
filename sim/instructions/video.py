"""Video instructions, on parts of registers. PTX ISA, "Video Instructions"."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from tilec.isa.wording import counted

from ..alu import Array, video
from ..binding import Binding
from ..machine import Step
from ..ptx.module import Minus, Name, Operand
from ..traits import PLAIN
from .registry import instruction

_TYPES = ("u32", "s32")
_SECOND = ("add", "min", "max")
_PART = re.compile(r"b[0-3]|h[01]")
_SHIFTS = {"shr7": 7, "shr15": 15}


class _Spelling(NamedTuple):
    """The qualifiers of an instruction: its types, in order, and the others."""

    types: tuple[str, ...]
    others: tuple[str, ...]

    def one_of(self, words: tuple[str, ...]) -> str:
        """The qualifier that is one of these, or an empty string."""
        return next((word for word in self.others if word in words), "")


def _spelling(binding: Binding, types: int, legal: tuple[str, ...]) -> _Spelling:
    """The qualifiers, of which those that are not types must be among `legal`."""
    given = binding.modifiers
    spelled = _Spelling(given[:types], given[types:])
    wrong = [t for t in spelled.types if t not in _TYPES] or [
        word for word in spelled.others if word not in legal
    ]
    if wrong or len(spelled.types) < types:
        words = ", ".join((*_TYPES, *legal))
        raise binding.error(
            f"'{binding.instruction.mnemonic}' takes {types} types, then of its qualifiers; "
            f"legal: {words}"
        )
    return spelled


def _selected(operand: Operand) -> tuple[Operand, str]:
    """An operand without the selector of its parts, and the selector."""
    if isinstance(operand, Name) and operand.component:
        return Name(operand.text), operand.component
    return operand, ""


def _part(binding: Binding, operand: Operand, type_: str) -> Callable[[], Array]:
    """Reads the part of a register that an operand selects."""
    plain, selector = _selected(operand)
    if selector and not _PART.fullmatch(selector):
        raise binding.error(f"'.{selector}' selects no part; legal: .b0 to .b3, .h0, .h1")
    slot, registers = binding.source(plain, "u32"), binding.machine.registers
    bits, number = _place(selector)
    return lambda: video.parts(registers[slot], type_, bits)[..., number]


def _place(selector: str) -> tuple[int, int]:
    """Width and number of the part of a register; all of it without a selector."""
    return ({"b": 8, "h": 16}[selector[0]], int(selector[1])) if selector else (32, 0)


# One part


@instruction("vadd", "vsub", "vabsdiff", "vmin", "vmax", traits=PLAIN)
def _combined(binding: Binding) -> Step:
    spelled = _spelling(binding, 3, ("sat", *_SECOND))
    combination = video.COMBINATIONS[binding.instruction.opcode[1:]]
    return _scalar(binding, combination, spelled.types, spelled)


@instruction("vshl", "vshr", traits=PLAIN)
def _shifted(binding: Binding) -> Step:
    spelled = _spelling(binding, 3, ("sat", "clamp", "wrap", *_SECOND))
    mode = spelled.one_of(("clamp", "wrap"))
    if not mode or spelled.types[2] != "u32":
        raise binding.error("a shift is .clamp or .wrap, by a .u32")
    shift = video.shift(binding.instruction.opcode[1:], mode)
    return _scalar(binding, shift, spelled.types, spelled)


@instruction("vset", traits=PLAIN)
def _compared(binding: Binding) -> Step:
    spelled = _spelling(binding, 2, (*video.COMPARISONS, *_SECOND))
    return _scalar(binding, _comparison(binding, spelled), ("u32", *spelled.types), spelled)


def _comparison(binding: Binding, spelled: _Spelling) -> video.Combination:
    word = spelled.one_of(tuple(video.COMPARISONS))
    if not word:
        raise binding.error(f"the comparison is missing; legal: {', '.join(video.COMPARISONS)}")
    compare = video.COMPARISONS[word]
    return lambda a, b: compare(a, b).astype(np.int64)


def _scalar(
    binding: Binding, combine: video.Combination, types: tuple[str, ...], spelled: _Spelling
) -> Step:
    """The step of an instruction on a part of each operand.

    Args:
        binding: the instruction.
        combine: what becomes of the parts.
        types: of the result and the operands.
        spelled: the qualifiers.
    """
    operands = binding.expect(3, 4)
    to, selector = _selected(operands[0])
    second = spelled.one_of(_SECOND)
    if bool(second or selector) != (len(operands) == 4) or (second and selector):
        raise binding.error("a third source goes with .add, .min or .max, or a selected part")
    of, left, right = types
    a, b = _part(binding, operands[1], left), _part(binding, operands[2], right)
    c = _part(binding, operands[3], of) if len(operands) == 4 else None
    bits, number = _place(selector)
    least, most = video.bounds(of, bits)
    machine, target = binding.machine, binding.target(to, "u32")
    mask = [place == number for place in range(32 // bits)]

    def step() -> None:
        found = combine(a(), b())
        if "sat" in spelled.others:
            found = np.clip(found, least, most)
        if c is not None and second:
            found = video.COMBINATIONS[second](found, c())
        elif c is not None:
            others = video.parts(video.wrapped(c()), "u32", bits)
            repeated = np.repeat(found[..., None], len(mask), axis=-1)
            return _write(video.merged(repeated, mask, others, bits))
        return _write(video.wrapped(found))

    def _write(value: Array) -> None:
        if target is not None:
            machine.write(target, value)

    return step


# Product and sum


@instruction("vmad", traits=PLAIN)
def _multiplied(binding: Binding) -> Step:
    spelled = _spelling(binding, 3, ("po", "sat", *_SHIFTS))
    operands = binding.expect(4)
    _, left, right = spelled.types
    plus_one = "po" in spelled.others
    negated = [isinstance(operand, Minus) for operand in operands[1:]]
    if (plus_one and any(negated)) or (negated[2] and negated[0] != negated[1]):
        raise binding.error("'vmad' takes only one of .po, a negated product and a negated addend")
    plain = [o.name if isinstance(o, Minus) else o for o in operands[1:]]
    signed = "s32" in (left, right) or any(negated)
    a, b = _part(binding, plain[0], left), _part(binding, plain[1], right)
    c = _part(binding, plain[2], "s32" if signed else "u32")
    least, most = video.bounds("s32" if signed else "u32", 32)
    dropped = _SHIFTS.get(spelled.one_of(tuple(_SHIFTS)), 0)
    machine, target = binding.machine, binding.target(operands[0], "u32")

    def step() -> None:
        found = video.multiply_add(
            a(), b(), c(), signs=(negated[0] != negated[1], negated[2]),
            rounded_up=plus_one, right=dropped,
        )  # fmt: skip
        if "sat" in spelled.others:
            found = np.clip(found, least, most)
        if target is not None:
            machine.write(target, video.wrapped(found))

    return step


# All parts


def _opcodes(*names: str) -> tuple[str, ...]:
    return tuple(f"v{name}{count}" for name in names for count in (2, 4))


@instruction(*_opcodes("add", "sub", "absdiff", "min", "max", "avrg"), traits=PLAIN)
def _combined_lanes(binding: Binding) -> Step:
    spelled = _spelling(binding, 3, ("sat", "add"))
    combination = video.COMBINATIONS[binding.instruction.opcode[1:-1]]
    return _lanes(binding, combination, spelled.types, spelled)


@instruction(*_opcodes("set"), traits=PLAIN)
def _compared_lanes(binding: Binding) -> Step:
    spelled = _spelling(binding, 2, (*video.COMPARISONS, "add"))
    return _lanes(binding, _comparison(binding, spelled), ("u32", *spelled.types), spelled)


def _lanes(
    binding: Binding, combine: video.Combination, types: tuple[str, ...], spelled: _Spelling
) -> Step:
    """The step of an instruction on two or four parts of each operand.

    Args:
        binding: the instruction.
        combine: what becomes of the parts.
        types: of the result and the operands.
        spelled: the qualifiers.
    """
    operands = binding.expect(4)
    count = int(binding.instruction.opcode[-1])
    bits = 32 // count
    of, left, right = types
    to, masked = _selected(operands[0])
    mask = [n in _numbers(binding, masked, count, count) for n in range(count)]
    first, left_order = _order(binding, operands[1], count, 0)
    second, right_order = _order(binding, operands[2], count, 1)
    a, b, c = (binding.source(operand, "u32") for operand in (first, second, operands[3]))
    machine, target = binding.machine, binding.target(to, "u32")
    registers = machine.registers
    least, most = video.bounds(of, bits)

    def picked(type_: str, order: list[int]) -> Array:
        both = np.broadcast_arrays(*(video.parts(registers[slot], type_, bits) for slot in (a, b)))
        return np.concatenate(both, axis=-1)[..., order]

    def step() -> None:
        found = combine(picked(left, left_order), picked(right, right_order))
        if "sat" in spelled.others:
            found = np.clip(found, least, most)
        if target is None:
            return
        if "add" in spelled.others:
            total = found[..., mask].sum(axis=-1) + registers[c].astype(np.int64)
            machine.write(target, video.wrapped(total))
        else:
            others = video.parts(registers[c], "u32", bits)
            machine.write(target, video.merged(found, mask, others, bits))

    return step


def _order(binding: Binding, operand: Operand, count: int, place: int) -> tuple[Operand, list[int]]:
    """An operand, and which parts of both operands stand in for its own, lowest first."""
    plain, selector = _selected(operand)
    if not selector:
        return plain, [place * count + n for n in range(count)]
    numbers = _numbers(binding, selector, count, 2 * count)
    if len(numbers) != count:
        raise binding.error(f"'.{selector}' selects {counted(len(numbers), 'part')}, not {count}")
    return plain, numbers


def _numbers(binding: Binding, selector: str, count: int, most: int) -> list[int]:
    """The parts that a selector names, lowest first; all without one."""
    if not selector:
        return list(range(count))
    letter = "b" if count == 4 else "h"
    digits = selector[1:]
    if selector[0] != letter or not digits.isdecimal() or max(map(int, digits)) >= most:
        raise binding.error(
            f"'.{selector}' selects no parts; legal: .{letter} and digits below {most}"
        )
    return [int(digit) for digit in reversed(digits)]
