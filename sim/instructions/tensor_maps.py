"""`tensormap.replace` and `tensormap.cp_fenceproxy`. PTX ISA, "tensormap.replace"."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from tilec.isa.limits import MAP_BYTES

from ..binding import Binding
from ..machine import Step
from ..map_bytes import (
    PTX_TYPES,
    TYPES,
    set_box,
    set_code,
    set_dim,
    set_step,
    set_stride,
)
from ..ptx.module import Instruction, Integer
from ..sync import Members
from ..traits import PLAIN, Sync, Traits
from .registry import instruction

Bytes = NDArray[np.uint8]


def _address(raw: Bytes, number: int, value: int) -> None:
    del number
    raw[0:8].view(np.uint64)[0] = value


def _type(raw: Bytes, number: int, value: int) -> None:
    del number
    set_code(raw, 7, 4, TYPES.index(PTX_TYPES[value]))


def _coded(first: int, bits: int) -> Callable[[Bytes, int, int], None]:
    return lambda raw, _, value: set_code(raw, first, bits, value)


_FIELDS: dict[str, Callable[[Bytes, int, int], None]] = {
    "global_address": _address,
    "rank": _coded(4, 3),
    "box_dim": set_box,
    "global_dim": set_dim,
    "global_stride": set_stride,
    "element_stride": set_step,
    "elemtype": _type,
    "interleave_layout": _coded(11, 2),
    "swizzle_mode": _coded(13, 2),
    "fill_mode": _coded(15, 1),
}
_ORDERED = ("box_dim", "global_dim", "global_stride", "element_stride")
"""Fields of which there is one for each dimension."""


def _traits(found: Instruction) -> Traits:
    return Traits(sync=Sync.WARP) if "cp_fenceproxy" in found.modifiers else PLAIN


@instruction("tensormap", traits=_traits)
def _bind(binding: Binding) -> Step:
    modifiers = binding.modifiers
    if modifiers[0] == "cp_fenceproxy":
        return _publish(binding)
    field = next((m for m in modifiers if m in _FIELDS), None)
    if modifiers[0] != "replace" or field is None:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    address, *ordinal, value = binding.expect(3 if field in _ORDERED else 2)
    number = 0
    if ordinal:
        if not isinstance(ordinal[0], Integer):
            raise binding.error(f"'.{field}' of 'tensormap.replace' takes a constant dimension")
        number = ordinal[0].value
    locate, slot = binding.locate(address), binding.source(value, modifiers[-1])
    machine, change = binding.machine, _FIELDS[field]
    registers = machine.registers

    def step() -> None:
        values = machine.full(registers[slot])
        for space, offsets, mask in locate():
            active = machine.active() if mask is None else machine.full(mask)
            places = machine.full(space.place(offsets))
            for cta, warp, lane in np.argwhere(active).tolist():
                at = int(places[cta, warp, lane])
                raw = machine.memory.data[at : at + MAP_BYTES]
                change(raw, number, int(values[cta, warp, lane]))

    return step


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
        targets, sources = (
            machine.full(space.place(at)) for space, at in ((there, ends), (here, begins))
        )
        active = machine.active()
        data = machine.memory.data
        for cta, warp in np.argwhere(active.any(axis=2)).tolist():
            lane = int(active[cta, warp].argmax())
            begin, end = int(sources[cta, warp, lane]), int(targets[cta, warp, lane])
            data[end : end + MAP_BYTES] = data[begin : begin + MAP_BYTES]

    return step
