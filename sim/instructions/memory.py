"""`ld`, `ldu` and `st`. PTX ISA, "Data Movement and Conversion Instructions"."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from tilec.isa.types import TYPE_BITS
from tilec.isa.wording import counted

from ..access import Access
from ..alu import Array
from ..binding import Binding, Locate
from ..machine import Step
from ..native.loads import Mover, Moves
from ..ptx.module import Instruction, Operand
from ..taint.flows import Flow, Flowing, harm
from ..taint.through_memory import load, store
from ..traits import Traits, unit_of_space
from ..widths import dtype_of
from .moves import elements
from .registry import instruction

_ORDERS = {
    "weak", "volatile", "relaxed", "acquire", "release", "mmio", "cta", "cluster", "gpu", "sys",
}  # fmt: skip
_CACHES = {"ca", "cg", "cs", "cv", "lu", "wb", "wt", "nc", "unified"}
_SPACES = {"global", "const", "shared", "shared::cta", "shared::cluster", "local", "param",
           "param::entry", "param::func"}  # fmt: skip
_VECTORS = {"v2": 2, "v4": 4, "v8": 8}
_WIDEST = 256
"""Bits that a thread loads or stores at most."""


def _shape(binding: Binding) -> tuple[str, int, int]:
    """Element type, its bits, and the number of elements."""
    *qualifiers, type_ = binding.modifiers or ("",)
    bits = TYPE_BITS.get(type_, 0)
    if bits not in (8, 16, 32, 64, 128):
        raise binding.error(f"'{binding.instruction.mnemonic}' of type '.{type_}' is not simulated")
    count = 1
    for word in qualifiers:
        if word in _VECTORS:
            count = _VECTORS[word]
        elif word not in _ORDERS | _CACHES | _SPACES and not word.startswith(("L1::", "L2::")):
            raise binding.error(f"qualifier '.{word}' of '{binding.instruction.opcode}' is unknown")
    if bits * count > _WIDEST:
        raise binding.error(
            f"'{binding.instruction.mnemonic}' moves {bits * count} bits of a thread; legal: at "
            f"most {_WIDEST}"
        )
    return type_, bits, count


def _chunks(bits: int, count: int) -> tuple[int, int, int]:
    """How an access is cut: bits of a chunk, elements in it, and chunks."""
    total = bits * count
    chunk = min(total, 128)
    return chunk, chunk // bits, total // chunk


def _traits(load: Instruction) -> Traits:
    """A load that other CTAs may be waited for with: it takes part in synchronisation."""
    asks = any(word in load.modifiers for word in ("volatile", "relaxed", "acquire"))
    polls = asks and not any(word.startswith("shared") for word in load.modifiers)
    return Traits(polls=polls, reads=True)


@instruction("ld", "ldu", traits=_traits, unit=unit_of_space, undefined=load)
def _load(binding: Binding) -> Step:
    type_, bits, count = _shape(binding)
    target, address = binding.expect(2, 3)[:2]
    items = binding.items(target)
    if len(items) != count:
        raise binding.error(f"'{binding.instruction.mnemonic}' loads {counted(count, 'element')}")
    locate = binding.locate(address)
    targets = [binding.target(item, type_) for item in items]
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer = machine.observer
    chunk, per_chunk, chunks = _chunks(bits, count)
    size = bits * count // 8
    access = Access.SYNC_READ if _orders(binding) else Access.READ
    native = _native(binding, locate, address, bits, count, targets=targets)

    def fetch() -> list[Array]:
        """The chunks that the active threads load."""
        found: list[Array] = []
        for space, offsets, active in locate():
            mask = active
            if observer is not None:
                mask = observer.access(where, space, offsets, size, mask, access)
            for number in range(chunks):
                places = space.place(offsets + 16 * number if number else offsets)
                value = memory.load(places, chunk, mask)
                if len(found) <= number:
                    found.append(value)
                elif mask is not None:
                    found[number] = np.where(mask, value, found[number])
        return found

    if count == 1:
        (to,) = targets
        if to is None:
            return lambda: None

        def load() -> None:
            if native is None or not native.move():
                machine.write(to, fetch()[0])

        return load

    def step() -> None:
        if native is not None and native.move():
            return
        values = fetch()
        for number, value in enumerate(values):
            each = elements(value, bits)
            for inside in range(per_chunk):
                to = targets[number * per_chunk + inside]
                if to is not None:
                    machine.write(to, each[..., inside])

    return step


def _flow_of_store(flowing: Flowing) -> Flow:
    return (harm if "async" in flowing.binding.modifiers else store)(flowing)


@instruction("st", traits=Traits(writes=True), unit=unit_of_space, undefined=_flow_of_store)
def _store(binding: Binding) -> Step:
    if "async" in binding.modifiers:
        from . import cluster  # noqa: PLC0415 (few kernels have any)

        return cluster.bind_async(binding)
    type_, bits, count = _shape(binding)
    address, source = binding.expect(2, 3)[:2]
    items = binding.items(source)
    if len(items) != count:
        raise binding.error(f"'{binding.instruction.mnemonic}' stores {count} elements")
    locate = binding.locate(address)
    slots = [binding.source(item, type_) for item in items]
    machine, memory, where = binding.machine, binding.machine.memory, binding.instruction
    observer, registers = machine.observer, machine.registers
    chunk, per_chunk, chunks = _chunks(bits, count)
    size = bits * count // 8
    whole = np.dtype(np.complex128) if chunk == 128 else dtype_of(chunk)
    access = Access.SYNC_WRITE if _orders(binding) else Access.WRITE

    def value(number: int) -> Array:
        parts = [registers[s] for s in slots[number * per_chunk : (number + 1) * per_chunk]]
        if per_chunk == 1:
            return parts[0]
        together: Array = np.stack(np.broadcast_arrays(*parts), axis=-1)
        return together.view(whole)[..., 0]

    def values() -> list[Array]:
        return [value(number) for number in range(chunks)]

    native = _native(binding, locate, address, bits, count, slots=slots, values=values)

    def step() -> None:
        if native is not None and native.move():
            return
        given = values()
        for space, offsets, active in locate():
            mask = active
            if observer is not None:
                mask = observer.access(where, space, offsets, size, mask, access, values=given)
            for number, value_ in enumerate(given):
                at = offsets + 16 * number if number else offsets
                places = space.place(at)
                memory.store(places, chunk, value_, mask)
                if observer is not None and space.name == "shared":
                    observer.stored(where, at, memory.load(places, chunk, mask), value_, mask)

    return step


def _native(
    binding: Binding,
    locate: Locate,
    address: Operand,
    bits: int,
    count: int,
    *,
    slots: Sequence[int] = (),
    targets: Sequence[int | None] = (),
    values: Callable[[], list[Array]] = list,
) -> Mover | None:
    """What executes a load of targets, or a store of slots, whose address is located, if anything.

    It is asked each time, and does nothing where numpy has to execute it.
    """
    accesses, based = binding.machine.accesses, binding.based
    if accesses is None or based is None or _orders(binding):
        return None
    # What generic addresses lead to elsewhere than to global memory, machine code leaves alone.
    space = binding.space(address) or "global"

    def offsets() -> Array:
        return locate()[0][1]

    moves = Moves(binding.instruction, space, based, bits, count, slots, targets, offsets, values)
    binding.mover = accesses.of(moves)
    return binding.mover


def _orders(binding: Binding) -> bool:
    """Whether the access takes part in synchronisation between threads."""
    return any(m in ("volatile", "relaxed", "acquire", "release") for m in binding.modifiers)
