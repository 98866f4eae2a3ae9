"""`tensormap.replace` and `tensormap.cp_fenceproxy`. PTX ISA, "tensormap.replace"."""

from __future__ import annotations

import numpy as np
from tilec.isa.limits import MAP_BYTES, MAP_PLACES

from ..access import Access
from ..alu import Array
from ..binding import Binding
from ..findings import StoppedError
from ..machine import Step
from ..map_fields import FIELDS
from ..memory import Space
from ..ptx.module import Instruction, Integer
from ..sync import Members
from ..taint.flows import harm
from ..traits import PLAIN, Sync, Traits, Unit
from .delivery import Courier, Place
from .registry import instruction

Thread = tuple[int, int, int]


def illegal_map(binding: Binding, thread: Thread, words: str) -> StoppedError:
    """The end of a run whose tensor map is not legal: hardware, too, gives up there."""
    where, name = binding.instruction, binding.machine.thread_name(thread)
    place = binding.frame.program.module.place(where)
    message = f"{place}: {name} {words} ({where.mnemonic})"
    return StoppedError("tensor-map", message, where, name)


def _traits(found: Instruction) -> Traits:
    return Traits(sync=Sync.WARP) if "cp_fenceproxy" in found.modifiers else PLAIN


def _unit(found: Instruction) -> Unit:
    """A map is changed in shared memory, and then published."""
    return Unit.SYNC if "cp_fenceproxy" in found.modifiers else Unit.SHARED


@instruction("tensormap", traits=_traits, unit=_unit, undefined=harm)
def _bind(binding: Binding) -> Step:
    modifiers = binding.modifiers
    if modifiers[0] == "cp_fenceproxy":
        return _publish(binding)
    name = next((m for m in modifiers if m in FIELDS), None)
    if modifiers[0] != "replace" or name is None:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    field = FIELDS[name]
    address, *ordinal, value = binding.expect(3 if field.dimensions else 2)
    number = 0
    if ordinal:
        if not isinstance(ordinal[0], Integer) or not 0 <= ordinal[0].value < field.dimensions:
            raise binding.error(
                f"'.{name}' of 'tensormap.replace' takes a constant dimension, 0 to "
                f"{field.dimensions - 1}"
            )
        number = ordinal[0].value
    if field.coded:
        if not isinstance(value, Integer):
            raise binding.error(f"'.{name}' of 'tensormap.replace' takes a constant")
        if problem := field.problem(name, number, value.value):
            raise binding.error(f"'tensormap.replace' {problem}")
    locate, slot = binding.locate(address), binding.source(value, modifiers[-1])
    machine = binding.machine
    registers = machine.registers

    def step() -> None:
        values = machine.full(registers[slot])
        for space, offsets, mask in locate():
            active = machine.active() if mask is None else machine.full(mask)
            for cta, warp, lane in np.argwhere(active).tolist():
                thread = (cta, warp, lane)
                raw = _bytes(binding, thread, space, offsets, writes=True)
                new = int(values[thread])
                if problem := field.problem(name, number, new):
                    raise illegal_map(binding, thread, problem)
                field.write(raw, number, new)

    return step


def _bytes(
    binding: Binding, thread: Thread, space: Space, offsets: Array, *, writes: bool
) -> Array:
    """The bytes of the tensor map that a thread names."""
    machine = binding.machine
    at = int(machine.full(offsets)[thread])
    place = int(machine.full(space.place(offsets))[thread])
    courier = Courier(binding)
    if space.name == "shared":
        where = Place(thread, thread[0], at)
        legal = courier.legal(where, MAP_BYTES, MAP_PLACES, writes=writes)
    else:
        legal = courier.legal_global(thread, at, MAP_BYTES, MAP_PLACES, writes=writes)
        if legal and machine.observer is not None:
            # `replace` changes a field of what is there.
            kind = Access.ATOMIC if writes else Access.READ
            machine.observer.global_.map(at, MAP_BYTES, kind)
    return (
        machine.memory.data[place : place + MAP_BYTES] if legal else np.zeros(MAP_BYTES, np.uint8)
    )


def _publish(binding: Binding) -> Step:
    """A warp copies a map from shared to global memory: its first lane's addresses count."""
    binding.sync = Members()
    target, source, size = binding.expect(3)
    if not isinstance(size, Integer) or size.value != MAP_BYTES:
        raise binding.error(f"'tensormap.cp_fenceproxy' copies {MAP_BYTES} bytes")
    to, from_ = binding.locate(target, ("global",)), binding.locate(source, ("shared",))
    machine = binding.machine

    def step() -> None:
        ((there, ends, _),) = to()
        ((here, begins, _),) = from_()
        active = machine.active()
        for cta, warp in np.argwhere(active.any(axis=2)).tolist():
            thread = (cta, warp, int(active[cta, warp].argmax()))
            source = _bytes(binding, thread, here, begins, writes=False)
            _bytes(binding, thread, there, ends, writes=True)[...] = source

    return step
