"""Instructions between the lanes of a warp: shuffles, votes, matches, reductions."""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..binding import Binding
from ..machine import Machine, Step
from ..ptx.module import Instruction, Integer, Operand, Pair
from ..sync import Members
from ..taint.flows import Flow, Flowing, decide_across, mix_bits, mix_warps, shuffle
from ..traits import PLAIN, Sync, Traits, Unit
from ..warps import lane_bits
from .registry import instruction

_LANE = np.arange(LANES).reshape(1, 1, LANES)


def _gathering(found: Instruction) -> Traits:
    """`.sync` waits for the lanes that the member mask names."""
    return Traits(sync=Sync.WARP) if "sync" in found.modifiers else PLAIN


def _targets(binding: Binding, first: Operand, types: tuple[str, str]) -> list[int | None]:
    """Slots of `d|p`, or of `d` alone."""
    if isinstance(first, Pair):
        return [binding.target(first.first, types[0]), binding.target(first.second, types[1])]
    return [binding.target(first, types[0]), None]


def _names_all(operand: Operand) -> bool:
    """Whether a member mask is a constant that names all lanes."""
    return isinstance(operand, Integer) and operand.value & 0xFFFFFFFF == 0xFFFFFFFF


def members(binding: Binding, operand: Operand) -> int:
    """The slot of a member mask; the instruction waits for the lanes that it names."""
    slot = binding.source(operand, "u32")
    everyone = _names_all(operand)
    binding.sync = Members(None if everyone else slot)
    observer, registers = binding.machine.observer, binding.machine.registers
    if observer is not None and not everyone:
        binding.precede(lambda: observer.named(binding.instruction, registers[slot]))
    return slot


def _bits(mask: Array) -> Array:
    """Lanes of each warp for which a condition holds, as a number; (CTAs, warps, 1) or fewer."""
    if mask.shape[2] == 1:
        mask = np.broadcast_to(mask, (*mask.shape[:2], LANES))
    return lane_bits(mask)


def _active_bits(machine: Machine) -> Array:
    if machine.mask is None:
        return np.full((1, 1, 1), 0xFFFFFFFF, np.uint32)
    return _bits(machine.mask)


def _shuffle_lanes(mode: str, b: Array, c: Array) -> tuple[Array, Array]:
    """The lane read, and whether it is in range."""
    offset, clamp = (b & 31).astype(np.int64), (c & 31).astype(np.int64)
    segment = (c >> 8 & 31).astype(np.int64)
    high = (_LANE & segment) | (clamp & ~segment)
    low = _LANE & segment
    match mode:
        case "up":
            lane = _LANE - offset
            inside = lane >= high
        case "down":
            lane = _LANE + offset
            inside = lane <= high
        case "bfly":
            lane = _LANE ^ offset
            inside = lane <= high
        case _:
            lane = low | (offset & ~segment)
            inside = lane <= high
    return np.where(inside, lane, _LANE), inside


@instruction("shfl", traits=_gathering, unit=Unit.EXCHANGE, undefined=shuffle)
def _shfl(binding: Binding) -> Step:
    modifiers = binding.modifiers
    sync = "sync" in modifiers
    mode = next((m for m in modifiers if m in ("up", "down", "bfly", "idx")), None)
    if mode is None or modifiers[-1] != "b32":
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    operands = binding.expect(5 if sync else 4)
    target, valid = _targets(binding, operands[0], ("b32", "pred"))
    a = binding.source(operands[1], "b32")
    b, c = (binding.source(o, "u32") for o in operands[2:4])
    who = members(binding, operands[4]) if sync else None
    machine, registers = binding.machine, binding.machine.registers
    observer, where = machine.observer, binding.instruction
    partly = sync and not _names_all(operands[4])

    def absent() -> Array | None:
        """The threads that take the value of a lane that does not take part; None if none does."""
        if machine.mask is None and not partly:
            return None
        named = _active_bits(machine)
        if who is not None:
            named = named & registers[who]
        lanes, _ = _shuffle_lanes(mode, registers[b], registers[c])
        missing = (named >> lanes.astype(np.uint32) & np.uint32(1)) == 0
        return missing if missing.any() else None

    binding.absent = absent

    def step() -> None:
        if observer is not None and not observer.taint.replaying:
            missing = absent()
            if missing is not None:
                observer.taken(where, missing)
        lanes, inside = _shuffle_lanes(mode, registers[b], registers[c])
        value = registers[a]
        if target is not None:
            if value.shape[2] == 1:
                result = value
            elif lanes.shape[:2] == (1, 1):
                result = value.take(lanes[0, 0], axis=2)
            else:
                shape = np.broadcast_shapes(value.shape, lanes.shape)
                result = np.take_along_axis(
                    np.broadcast_to(value, shape), np.broadcast_to(lanes, shape), axis=2
                )
            machine.write(target, result)
        if valid is not None:
            machine.write(valid, inside)

    return step


def _flow_of_vote(flowing: Flowing) -> Flow:
    return (mix_warps if "uni" in flowing.binding.modifiers else decide_across)(flowing)


@instruction("vote", traits=_gathering, unit=Unit.CONTROL, undefined=_flow_of_vote)
def _vote(binding: Binding) -> Step:
    modifiers = binding.modifiers
    sync = "sync" in modifiers
    mode = next((m for m in modifiers if m in ("all", "any", "uni", "ballot")), None)
    if mode is None:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    operands = binding.expect(3 if sync else 2)
    target = binding.target(operands[0], "b32" if mode == "ballot" else "pred")
    source = binding.source(operands[1], "pred")
    who = members(binding, operands[2]) if sync else None
    machine, registers = binding.machine, binding.machine.registers
    everyone = np.full((1, 1, 1), 0xFFFFFFFF, np.uint32)

    def step() -> None:
        wanted = (everyone if who is None else registers[who]) & _active_bits(machine)
        holds = _bits(registers[source]) & wanted
        match mode:
            case "ballot":
                result: Array = holds
            case "all":
                result = holds == wanted
            case "any":
                result = holds != 0
            case _:
                result = (holds == wanted) | (holds == 0)
        if target is not None:
            machine.write(target, result)

    return step


@instruction("activemask", traits=PLAIN, unit=Unit.CONTROL)
def _activemask(binding: Binding) -> Step:
    target = binding.target(binding.expect(1)[0], "b32")
    machine = binding.machine
    return lambda: machine.write(target, _active_bits(machine)) if target is not None else None


@instruction("match", traits=_gathering, unit=Unit.CONTROL, undefined=mix_warps)
def _match(binding: Binding) -> Step:
    modifiers = binding.modifiers
    every = "all" in modifiers
    type_ = modifiers[-1]
    if type_ not in ("b32", "b64") or "sync" not in modifiers:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    operands = binding.expect(3)
    target, valid = _targets(binding, operands[0], ("b32", "pred"))
    source = binding.source(operands[1], type_)
    who = members(binding, operands[2])
    machine, registers = binding.machine, binding.machine.registers

    def step() -> None:
        wanted = registers[who] & _active_bits(machine)
        value = registers[source]
        value = np.broadcast_to(value, (*value.shape[:2], LANES))
        same = value[..., :, None] == value[..., None, :]
        # (CTAs, warps, lane, lane) to a number for each lane
        packed = np.packbits(same, axis=3, bitorder="little").view(np.uint32)[..., 0]
        alike = packed & wanted
        if every:
            agreed = alike == wanted
            if valid is not None:
                machine.write(valid, agreed)
            alike = np.where(agreed, wanted, np.uint32(0))
        if target is not None:
            machine.write(target, alike)

    return step


_REDUCTIONS = {
    "add": (np.add, 0),
    "and": (np.bitwise_and, 0xFFFFFFFF),
    "or": (np.bitwise_or, 0),
    "xor": (np.bitwise_xor, 0),
}


def _flow_of_redux(flowing: Flowing) -> Flow:
    words = flowing.binding.modifiers
    if "xor" in words:
        return mix_bits(flowing)
    return (decide_across if "and" in words or "or" in words else mix_warps)(flowing)


@instruction("redux", traits=_gathering, unit=Unit.CONTROL, undefined=_flow_of_redux)
def _redux(binding: Binding) -> Step:
    modifiers = binding.modifiers
    type_ = modifiers[-1]
    operation = next((m for m in modifiers if m in (*_REDUCTIONS, "min", "max")), None)
    if operation is None or type_ not in ("u32", "s32", "b32", "f32"):
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    operands = binding.expect(3)
    target = binding.target(operands[0], type_)
    source = binding.source(operands[1], type_)
    who = members(binding, operands[2])
    machine, registers = binding.machine, binding.machine.registers
    combine = (
        _REDUCTIONS[operation][0]
        if operation in _REDUCTIONS
        else machine.resolve(operation, (*(m for m in modifiers if m == "NaN"), type_))
    )
    magnitude = machine.resolve("abs", ("f32",)) if "abs" in modifiers else None

    def step() -> None:
        value = machine.full(registers[source])
        if magnitude is not None:
            value = magnitude(value)
        wanted = machine.full(registers[who] & _active_bits(machine))
        result = np.zeros(machine.shape, np.uint32)
        # Lanes that name different members have reductions of their own.
        for mask in np.unique(wanted).tolist():
            lanes = [lane for lane in range(LANES) if mask >> lane & 1]
            if lanes:
                total = value[..., lanes[0]]
                for lane in lanes[1:]:
                    total = combine(total, value[..., lane])
                result = np.where(wanted == mask, total[..., None], result)
        if target is not None:
            machine.write(target, result)

    return step


@instruction("elect", traits=_gathering, unit=Unit.CONTROL)
def _elect(binding: Binding) -> Step:
    operands = binding.expect(2)
    target, chosen = _targets(binding, operands[0], ("b32", "pred"))
    who = members(binding, operands[1])
    machine, registers = binding.machine, binding.machine.registers

    def step() -> None:
        wanted = registers[who] & _active_bits(machine)
        lowest = wanted & (~wanted + np.uint32(1))
        leader = np.bitwise_count(lowest - np.uint32(1)).astype(np.uint32)
        if target is not None:
            machine.write(target, leader)
        if chosen is not None:
            machine.write(chosen, leader == _LANE)

    return step
