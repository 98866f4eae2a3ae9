"""`atom` and `red`. PTX ISA, "Parallel Synchronization and Communication Instructions".

Threads that meet at one address in one instruction take their turns in the order of their
numbers.
"""

from __future__ import annotations

import numpy as np
from tilec.isa.types import TYPE_BITS
from tilec.isa.wording import counted

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..machine import Machine, Step
from ..ptx.module import Instruction
from ..taint.flows import Flow, Flowing, harm
from ..taint.through_memory import update
from ..traits import Traits, unit_of_space
from ..widths import dtype_of
from .registry import instruction
from .updates import Chain, Update, apply

_OPERATIONS = ("add", "and", "cas", "dec", "exch", "inc", "max", "min", "or", "xor")
_IGNORED = {
    "relaxed", "acquire", "release", "acq_rel", "cta", "cluster", "gpu", "sys", "noftz",
    "global", "shared", "shared::cta", "shared::cluster", "L2::cache_hint",
}  # fmt: skip
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}


def _increment(old: Array, bound: Array) -> Array:
    return np.where(old >= bound, 0, old + 1).astype(old.dtype)


def _decrement(old: Array, bound: Array) -> Array:
    return np.where((old == 0) | (old > bound), bound, old - 1).astype(old.dtype)


def _swap(old: Array, compare: Array, value: Array) -> Array:
    return np.where(old == compare, value, old)


def _exchange(old: Array, value: Array) -> Array:
    return np.broadcast_to(value, old.shape)


_UPDATES: dict[str, Update] = {
    "cas": _swap,
    "exch": _exchange,
    "inc": _increment,
    "dec": _decrement,
}
_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "and": np.bitwise_and,
    "max": np.maximum,
    "min": np.minimum,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def _chained(ufunc: np.ufunc) -> Chain:
    def chain(start: Array, operand: Array) -> tuple[Array, Array]:
        values = ufunc.accumulate(np.append(start, operand), dtype=start.dtype)
        return values[:-1], values[-1]

    return chain


def _exchanges(start: Array, values: Array) -> tuple[Array, Array]:
    return np.append(start, values[:-1]), values[-1]


def _swaps(start: Array, compare: Array, values: Array) -> tuple[Array, Array]:
    """Compare and swap: between one success and the next, all find the same."""
    found, current, at = np.empty_like(compare), start[0], 0
    while at < compare.size:
        hits = np.flatnonzero(compare[at:] == current)
        if not hits.size:
            break
        following = at + int(hits[0]) + 1
        found[at:following] = current
        current, at = values[following - 1], following
    found[at:] = current
    return found, current


_CHAINS: dict[str, Chain] = {"exch": _exchanges, "cas": _swaps}


def _update(machine: Machine, operation: str, type_: str) -> tuple[Update, Chain | None]:
    """What an operation does once, and, where there is a quick way, many times at one place."""
    if operation in _UPDATES:
        return _UPDATES[operation], _CHAINS.get(operation)
    unsigned = type_[0] in "ub" and not type_.startswith("bf")
    if operation in ("and", "or", "xor") or unsigned or (type_[0] == "s" and operation == "add"):
        return _UFUNCS[operation], _chained(_UFUNCS[operation])
    rounding = ("rn",) if operation == "add" and type_[0] != "s" else ()
    return machine.resolve(operation, (*rounding, type_)), None


def _traits(atomic: Instruction) -> Traits:
    """A compare-and-swap may be tried until another CTA has let go of a lock."""
    words = atomic.modifiers
    shared = any(word.startswith("shared") for word in words)
    polls = atomic.opcode == "atom" and "cas" in words and not shared
    return Traits(polls=polls, reads=True, writes=True)


def _flow(flowing: Flowing) -> Flow:
    return (harm if "async" in flowing.binding.modifiers else update)(flowing)


@instruction("atom", "red", traits=_traits, unit=unit_of_space, undefined=_flow)
def _bind(binding: Binding) -> Step:
    if "async" in binding.modifiers:
        from . import cluster  # noqa: PLC0415 (few kernels have any)

        return cluster.bind_async(binding)
    *qualifiers, type_ = binding.modifiers or ("",)
    bits = TYPE_BITS.get(type_, 0)
    operation = next((q for q in qualifiers if q in _OPERATIONS), None)
    unknown = [q for q in qualifiers if q not in _IGNORED and q not in _VECTORS and q != operation]
    if operation is None or unknown or bits not in (16, 32, 64):
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    count = next((_VECTORS[q] for q in qualifiers if q in _VECTORS), 1)
    operands = list(binding.operands)
    result = binding.items(operands.pop(0)) if binding.instruction.opcode == "atom" else ()
    address, *values = operands
    arguments = 2 if operation == "cas" else 1
    if len(values) < arguments:
        raise binding.error(f"'{binding.instruction.mnemonic}' takes {counted(arguments, 'value')}")
    sources = [
        [binding.source(item, type_) for item in binding.items(value)]
        for value in values[:arguments]
    ]
    if any(len(s) != count for s in sources) or (result and len(result) != count):
        raise binding.error(f"'{binding.instruction.mnemonic}' takes {count} elements")
    targets = [binding.target(item, type_) for item in result]
    locate = binding.locate(address)
    update, chain = _update(binding.machine, operation, type_)
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer, registers = machine.observer, machine.registers
    shift, size = (bits // 8).bit_length() - 1, bits // 8

    def element(number: int) -> Array:
        old = np.zeros(machine.shape, dtype_of(bits))
        for space, offsets, active in locate():
            mask = active
            if observer is not None:
                mask = observer.access(
                    where, space, offsets + size * number, size, mask, Access.ATOMIC
                )
            chosen = machine.active() if mask is None else machine.full(mask)
            if not chosen.any():
                continue
            places = machine.full(space.place(offsets + size * number))[chosen] >> shift
            inputs = [machine.full(registers[s[number]])[chosen] for s in sources]
            old[chosen] = apply(memory.views[bits], places, inputs, update, chain)
        return old

    def step() -> None:
        for number in range(count):
            old = element(number)
            if targets and (to := targets[number]) is not None:
                machine.write(to, old)

    return step
