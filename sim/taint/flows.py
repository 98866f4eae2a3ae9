"""What of an instruction's results is undefined, by what of its operands is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from tilec.isa.types import TYPE_BITS

from ..alu import Array
from ..binding import Binding
from ..machine import Machine, Step
from ..ptx.module import Negated, Operand, Pair, operand_names
from .marks import combined, origin_at
from .replay import Replay
from .state import Taint

Flow = Callable[[], None]
"""Notes, before an instruction is executed, what will be undefined of its results."""


@dataclass(slots=True)
class Flowing:
    """An instruction whose flow is sought.

    Attributes:
        machine: the machine.
        taint: what is undefined.
        binding: the instruction, bound.
        step: what it does, without its guard.
        sources: slots of the registers that it reads, addresses excluded.
        targets: slots of those that it writes.
        replay: executes it on other values.
    """

    machine: Machine
    taint: Taint
    binding: Binding
    step: Step
    sources: tuple[int, ...] = ()
    targets: tuple[int, ...] = ()
    replay: Replay = field(init=False)

    def __post_init__(self) -> None:
        self.sources = tuple(dict.fromkeys(self.binding.read))
        self.targets = tuple(dict.fromkeys(self.binding.written))
        self.replay = Replay(self.machine, self.taint, self.binding, self.step)

    def slots(self, *numbers: int) -> tuple[int, ...]:
        """Slots of the registers of some operands, by their place in the text."""
        operands = self.binding.operands
        chosen = [operands[n] for n in numbers if n < len(operands)]
        return tuple(dict.fromkeys(s for o in chosen for s in self._registers(o)))

    def constants(self, *numbers: int) -> tuple[int, ...]:
        """Slots of what of some operands is not a register."""
        operands, items = self.binding.operands, self.binding.items
        chosen = [item for n in numbers if n < len(operands) for item in items(operands[n])]
        return tuple(s for o, s in self.binding.constants if any(o is item for item in chosen))

    def ordered(self, number: int) -> list[int | None]:
        """The slots of all elements of an operand, in its order; None of what is not a register."""
        items = self.binding.items(self.binding.operands[number])
        return [next(self._registers(item), None) for item in items]

    def _registers(self, operand: Operand) -> Iterator[int]:
        for name in operand_names((operand,)):
            slot = self.binding.slot_of(name)
            if slot is not None:
                yield slot


Finder = Callable[[Flowing], Flow]
"""Finds the flow of an instruction."""


def harm(flowing: Flowing) -> Flow:
    """An undefined operand does harm, whatever becomes of the result."""
    taint, binding = flowing.taint, flowing.binding

    def flow() -> None:
        taint.harm_by(binding.instruction, flowing.sources, "has an operand made of")
        taint.define(flowing.targets)

    return flow


def smear(flowing: Flowing) -> Flow:
    """Every bit of the results is undefined where any of the operands is."""
    taint, sources, targets = flowing.taint, flowing.sources, flowing.targets
    where = flowing.binding.instruction

    def flow() -> None:
        if taint.any(sources):
            taint.write_whole(targets, *combined(taint.of(where, sources)))
        else:
            taint.define(targets)

    return flow


def smear_halves(flowing: Flowing) -> Flow:
    """The same of each half of the registers, which two elements share."""
    taint, sources, targets = flowing.taint, flowing.sources, flowing.targets
    where, registers = flowing.binding.instruction, flowing.machine.registers

    def flow() -> None:
        if not taint.any(sources):
            taint.define(targets)
            return
        marks = taint.of(where, sources)
        _, origin = combined(marks)
        for slot in targets:
            half = np.dtype(f"u{registers[slot].dtype.itemsize // 2}")
            dirty = np.zeros((1, 1, 1, 2), np.bool_)
            for one in marks:
                parts = np.ascontiguousarray(one.bits)[..., None].view(np.uint8)
                parts = parts.reshape(*parts.shape[:3], 2, -1)
                dirty = dirty | (parts != 0).any(axis=-1)
            both = np.where(dirty, half.type(~half.type(0)), half.type(0))
            taint.write(slot, both.view(registers[slot].dtype)[..., 0], origin)

    return flow


def pack_halves(flowing: Flowing) -> Flow:
    """Two operands become the halves of a register, the first the upper one."""
    taint, where = flowing.taint, flowing.binding.instruction
    (target,) = flowing.targets or (None,)
    high, low = (flowing.slots(number) for number in (1, 2))
    registers = flowing.machine.registers

    def flow() -> None:
        if target is None:
            return
        if not taint.any((*high, *low)):
            taint.define((target,))
            return
        dtype = registers[target].dtype
        half = np.dtype(f"u{dtype.itemsize // 2}")
        threads = [combined(taint.of(where, slots))[0] for slots in (low, high)]
        _, origin = combined(taint.of(where, (*high, *low)))
        both = np.stack(np.broadcast_arrays(*threads), axis=-1)
        parts = np.where(both, half.type(~half.type(0)), half.type(0))
        taint.write(target, parts.view(dtype)[..., 0], origin)

    return flow


def move(*controls: int, across: bool = False) -> Finder:
    """The bits of operands are moved about, as other operands, by their places in the text, say.

    Args:
        controls: those others.
        across: whether bits move between lanes.
    """

    def build(flowing: Flowing) -> Flow:
        taint, targets, replay = flowing.taint, flowing.targets, flowing.replay
        where = flowing.binding.instruction
        deciding = set(flowing.slots(*controls))
        moved = [slot for slot in flowing.sources if slot not in deciding]
        others = sorted(set(range(1, len(flowing.binding.operands))) - set(controls))
        fixed = flowing.constants(*others)
        both = deciding & set(flowing.slots(*others))
        both |= set(fixed) & set(flowing.constants(*controls))
        whole = mix_warps(flowing) if across else smear(flowing)

        def flow() -> None:
            if not taint.any(flowing.sources):
                taint.define(targets)
            elif both or taint.any(deciding):
                whole()
            else:
                _, origin = combined(taint.of(where, moved))
                if across:
                    origin = _of_warps(origin)
                for slot, bits in replay.run(replay.shadows((*moved, *fixed))).items():
                    taint.write(slot, bits, origin)

        return flow

    return build


def shuffle(flowing: Flowing) -> Flow:
    """Values of other lanes; of those that do not take part, undefined."""
    taken = move(2, 3, 4, across=True)(flowing)
    taint, machine, binding = flowing.taint, flowing.machine, flowing.binding
    results = [slot for slot in flowing.targets if machine.registers[slot].dtype != np.bool_]
    origin = np.full((1, 1, 1), origin_at(binding.instruction), np.int32)

    def flow() -> None:
        taken()
        missing = None if binding.absent is None else binding.absent()
        if missing is not None:
            active = missing if machine.mask is None else missing & machine.mask
            taint.shuffled.add(origin_at(binding.instruction))
            taint.write_some(results, active, origin)

    return flow


def decide(flowing: Flowing, *, across: bool = False) -> Flow:
    """A bit of the result is undefined if it depends on undefined bits, of the same place each.

    The instruction is executed with all undefined bits 0, and with all 1, operand by operand.
    """
    taint, sources, targets = flowing.taint, flowing.sources, flowing.targets
    where, replay, registers = (
        flowing.binding.instruction,
        flowing.replay,
        flowing.machine.registers,
    )

    def flow() -> None:
        dirty = [slot for slot in sources if slot in taint.registers]
        if not dirty:
            taint.define(targets)
            return
        _, origin = combined(taint.of(where, dirty))
        bits = {slot: taint.registers[slot].bits for slot in dirty}
        results = []
        for choice in product((False, True), repeat=len(dirty)):
            values = {
                slot: registers[slot] | bits[slot] if up else registers[slot] & ~bits[slot]
                for slot, up in zip(dirty, choice, strict=True)
            }
            results.append(replay.run(values))
        for slot in targets:
            first, *others = (result[slot] for result in results)
            differ = np.zeros((1, 1, 1), first.dtype)
            for other in others:
                differ = differ | (first ^ other)
            if first.dtype == np.bool_:
                # A predicate of numbers depends on all of their bits together.
                numbers = [one for one in taint.of(where, dirty) if one.bits.dtype != np.bool_]
                some, _ = combined(numbers)
                differ = differ | (_of_warps(some) if across else some)
            taint.write(slot, differ, _of_warps(origin) if across else origin)

    return flow


def decide_across(flowing: Flowing) -> Flow:
    """The same between the lanes of a warp, for what grows, or falls, with its operands."""
    return decide(flowing, across=True)


def _of_warps(values: Array) -> Array:
    """The greatest value of each warp."""
    return np.asarray(values.max(axis=2, keepdims=True))


def mix_warps(flowing: Flowing) -> Flow:
    """Every bit of a warp's results is undefined where any lane's operand is."""
    taint, sources, targets = flowing.taint, flowing.sources, flowing.targets
    where, machine = flowing.binding.instruction, flowing.machine

    def flow() -> None:
        if not taint.any(sources):
            taint.define(targets)
            return
        threads, origin = combined(taint.of(where, sources))
        mask = machine.mask
        active = threads if mask is None else threads & mask
        taint.write_whole(targets, _of_warps(active), _of_warps(origin))

    return flow


def mix_bits(flowing: Flowing) -> Flow:
    """A bit of a warp's results is undefined where that of any lane's operand, the first, is."""
    taint, targets, machine = flowing.taint, flowing.targets, flowing.machine
    values = flowing.slots(1)
    others = [slot for slot in flowing.sources if slot not in values]
    where, whole = flowing.binding.instruction, mix_warps(flowing)

    def flow() -> None:
        if taint.any(others) or not taint.any(values):
            whole()
            return
        (marks,) = taint.of(where, values)
        bits = marks.bits
        if machine.mask is not None:
            bits = np.where(machine.mask, bits, bits.dtype.type(0))
        mixed = np.bitwise_or.reduce(bits, axis=2, keepdims=True)
        for slot in targets:
            taint.write(slot, mixed, _of_warps(marks.origin))

    return flow


def select(flowing: Flowing) -> Flow:
    """One of two operands, as a third says."""
    return move(3)(flowing)


def convert(flowing: Flowing) -> Flow:
    """Integers are cut, or extended by zeros or their sign; all else depends on all bits."""
    modifiers = flowing.binding.modifiers
    types = [m for m in modifiers if m in TYPE_BITS or m.endswith("x2")]
    if len(types) == 2 and types[0].endswith("x2") and len(flowing.binding.operands) == 3:
        return pack_halves(flowing)
    if len(types) == 2 and types[0].endswith("x2") and types[1].endswith("x2"):
        return smear(flowing)
    plain = len(modifiers) == 2 and all(m[0] in "us" for m in modifiers)
    return (move() if plain else smear)(flowing)


def compare(flowing: Flowing) -> Flow:
    """A comparison, and what a predicate makes of it: false and anything is false."""
    combining = next((m for m in flowing.binding.modifiers if m in ("and", "or")), None)
    if combining is None or isinstance(flowing.binding.operands[0], Pair):
        return smear(flowing)
    taint, targets = flowing.taint, flowing.targets
    where, registers = flowing.binding.instruction, flowing.machine.registers
    last = flowing.binding.operands[-1]
    predicate = flowing.slots(len(flowing.binding.operands) - 1)
    compared = [slot for slot in flowing.sources if slot not in predicate]
    whole = smear(flowing)

    def flow() -> None:
        if not predicate or taint.any(predicate) or not taint.any(compared):
            whole()
            return
        holds = registers[predicate[0]]
        holds = ~holds if isinstance(last, Negated) else holds
        threads, origin = combined(taint.of(where, compared))
        open_ = threads & (holds if combining == "and" else ~holds)
        taint.write_whole(targets, open_, origin)

    return flow


def add(flowing: Flowing) -> Flow:
    """Integer sums and differences: an undefined bit reaches those above it."""
    type_ = flowing.binding.modifiers[-1] if flowing.binding.modifiers else ""
    if type_[:1] not in ("u", "s") or "x2" in type_ or flowing.binding.modifiers[:1] != (type_,):
        return half_or_whole(flowing)
    taint, sources, targets = flowing.taint, flowing.sources, flowing.targets
    where, registers = flowing.binding.instruction, flowing.machine.registers

    def flow() -> None:
        if not taint.any(sources):
            taint.define(targets)
            return
        marks = taint.of(where, sources)
        _, origin = combined(marks)
        bits = marks[0].bits
        for one in marks[1:]:
            bits = bits | one.bits
        lowest = bits | (~bits + bits.dtype.type(1))
        for slot in targets:
            if registers[slot].dtype == bits.dtype:
                taint.write(slot, lowest, origin)
            else:
                taint.write_whole((slot,), bits != 0, origin)

    return flow


def half_or_whole(flowing: Flowing) -> Flow:
    """Smear each half of registers that hold two elements, and all of others."""
    modifiers = flowing.binding.modifiers
    twice = bool(modifiers) and modifiers[-1].endswith("x2")
    return (smear_halves if twice else smear)(flowing)
