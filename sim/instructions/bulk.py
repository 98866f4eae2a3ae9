"""`cp.async.bulk` and `cp.reduce.async.bulk` of rows of bytes, groups, and waits for them.

PTX ISA, "cp.async.bulk", "cp.reduce.async.bulk", "cp.async.bulk.prefetch", "…commit_group",
"…wait_group". Tensor copies are in `tensor_copy`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from tilec.isa.wording import counted

from ..alu import Array
from ..binding import Binding, Locate
from ..checks.in_flight import Thread
from ..checks.operations import GRANULE
from ..machine import Machine, Step
from ..ptx.module import Integer, Operand
from . import tensor_copy
from .delivery import Courier, Place, Target, places
from .mbarrier import MBarrier
from .reductions import Combine, combiner

_SPACES = ("shared::cluster", "shared::cta", "global")
_KNOWN = {
    "async", "bulk", "mbarrier::complete_tx::bytes", "bulk_group", "L2::cache_hint", "noftz",
    "multicast::cluster", "read",
}  # fmt: skip
_UNIT = 16
"""Sizes and addresses are multiples of this."""


def bind(binding: Binding) -> Step:
    """The step of a bulk copy, or of the wait for one."""
    modifiers = binding.modifiers
    if "commit_group" in modifiers:
        return _commit(binding)
    if "wait_group" in modifiers:
        return _wait(binding)
    if "tensor" in modifiers:
        return tensor_copy.bind(binding)
    spaces = [m for m in modifiers if m in _SPACES]
    if "prefetch" in modifiers:
        _, size, *_ = binding.expect(2, 3)
        return _checked_size(binding, size, lambda: None)
    if len(spaces) != 2:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    reduces = modifiers[0] == "reduce"
    *_, operation, type_ = [m for m in modifiers if m != "noftz"] if reduces else ("", "")
    known = {*_KNOWN, *spaces, "reduce", operation, type_}
    if unknown := [m for m in modifiers if m not in known]:
        raise binding.error(f"qualifier '.{unknown[0]}' of '{binding.instruction.opcode}'")
    combine = combiner(operation, type_, binding.machine.numerics) if reduces else None
    if spaces[0] == "global":
        return _store(binding, combine)
    return _load(binding, spaces[1], combine)


def _checked_size(binding: Binding, operand: Operand, step: Step) -> Step:
    if isinstance(operand, Integer) and operand.value % _UNIT:
        raise binding.error(
            f"a bulk copy of {counted(operand.value, 'byte')}; legal: multiples of {_UNIT}"
        )
    return step


def _load(binding: Binding, from_space: str, combine: Combine | None) -> Step:
    """A copy to shared memory, from global memory or from the own CTA's."""
    target, source, size, barrier, *rest = binding.expect(4, 5, 6)
    _checked_size(binding, size, lambda: None)
    to = binding.locate(target, ("shared::cluster",))
    from_ = binding.locate(source, (from_space,))
    objects, slot = MBarrier(binding, barrier, named=False), binding.source(size, "u32")
    mask_slot = (
        binding.source(rest[0], "u16") if "multicast::cluster" in binding.modifiers else None
    )
    machine, registers, courier = binding.machine, binding.machine.registers, Courier(binding)
    stride = machine.memory.shared_stride

    def readable(where: Place | int, thread: Thread, count: int) -> bool:
        if isinstance(where, Place):
            return courier.legal(where, count, _UNIT, writes=False)
        return courier.legal_global(thread, where, count, _UNIT, writes=False)

    def step() -> None:
        index, chosen = objects.places()
        barriers = dict(zip(map(tuple, np.argwhere(chosen).tolist()), index.tolist(), strict=True))
        sizes = machine.full(registers[slot])
        masks = None if mask_slot is None else machine.full(registers[mask_slot])
        sources = _sources(machine, from_)
        for place in places(machine, to):
            thread, count = place.thread, int(sizes[place.thread])
            if thread not in barriers:
                continue
            begin, where = sources[thread]
            legal = not _crooked(machine, binding, thread, count) and readable(where, thread, count)
            if legal and not isinstance(where, Place):
                courier.read_global(thread, where + np.arange(0, count, _UNIT), _UNIT)
            mask = None if masks is None else int(masks[thread])
            for one, far in courier.receivers(place, mask):
                object_ = barriers[thread] + far * (stride >> 3)
                if not legal or not courier.legal(one, count, _UNIT, writes=True):
                    courier.tell(thread, object_, count)
                    continue
                move = _mover(machine, begin, one.offset, count, combine)
                touched = one.offset + np.arange(0, count, GRANULE)
                courier.load(one, touched, object_, count, move, poison=combine is None)

    return step


def _store(binding: Binding, combine: Combine | None) -> Step:
    """A copy, or a reduction, to global memory."""
    target, source, size, *_ = binding.expect(3, 4)
    _checked_size(binding, size, lambda: None)
    to = binding.locate(target, ("global",))
    from_ = binding.locate(source, ("shared",))
    slot = binding.source(size, "u32")
    machine, registers, courier = binding.machine, binding.machine.registers, Courier(binding)

    def step() -> None:
        sizes = machine.full(registers[slot])
        ((_, offsets, _),) = to()
        targets = machine.full(offsets)
        for place in places(machine, from_):
            thread, count = place.thread, int(sizes[place.thread])
            end = int(targets[thread])
            if (
                courier.legal(place, count, _UNIT, writes=False)
                and courier.legal_global(thread, end, count, _UNIT, writes=True)
                and not _crooked(machine, binding, thread, count)
            ):
                move = _sender(machine, place.offset, end, count, combine)
                touched = place.offset + np.arange(0, count, GRANULE)
                courier.store(
                    place, touched, count, move, _target(machine, place, end, count, combine)
                )

    return step


def _sources(machine: Machine, locate: Locate) -> dict[Thread, tuple[int, Place | int]]:
    """Byte of memory that each thread's copy begins at, with its place in its space."""
    found: dict[Thread, tuple[int, Place | int]] = {}
    for space, offsets, mask in locate():
        active = machine.active() if mask is None else machine.full(mask)
        at, begins = machine.full(offsets), machine.full(space.place(offsets))
        for cta, warp, lane in np.argwhere(active).tolist():
            thread = (cta, warp, lane)
            offset = int(at[thread])
            where = Place(thread, cta, offset) if space.name == "shared" else offset
            found[thread] = int(begins[thread]), where
    return found


def _crooked(machine: Machine, binding: Binding, thread: Thread, size: int) -> bool:
    """Whether a size is not a multiple of 16; a finding where it is not."""
    if size % _UNIT == 0:
        return False
    if machine.observer is not None:
        machine.observer.blame(
            "misaligned",
            binding.instruction,
            thread,
            f"copies {counted(size, 'byte')}, which is not a multiple of {_UNIT}",
        )
    return True


def _mover(
    machine: Machine, begin: int, offset: int, size: int, combine: Combine | None
) -> Callable[[int], None]:
    """Moves bytes of memory to an offset in shared memory."""

    def move(base: int) -> None:
        data = machine.memory.data
        target = slice(base + offset, base + offset + size)
        new = data[begin : begin + size].copy()
        data[target] = new if combine is None else combine(data[target].copy(), new)

    return move


def _sender(
    machine: Machine, offset: int, end: int, size: int, combine: Combine | None
) -> Callable[[int], None]:
    """Moves bytes at an offset in shared memory to a byte of memory."""

    def move(base: int) -> None:
        data = machine.memory.data
        new = data[base + offset : base + offset + size].copy()
        target = slice(end, end + size)
        data[target] = new if combine is None else combine(data[target].copy(), new)

    return move


def _target(machine: Machine, place: Place, end: int, size: int, combine: Combine | None) -> Target:
    """The global memory that a copy of shared memory writes, or reduces into."""

    def new(base: int) -> Array:
        begin = base + place.offset
        return machine.memory.data[begin : begin + size].reshape(-1, _UNIT)

    return Target(end + np.arange(0, size, _UNIT), _UNIT, None if combine else new)


def _commit(binding: Binding) -> Step:
    binding.expect(0)
    machine, where = binding.machine, binding.instruction
    return lambda: machine.transfers.commit(where, machine.active(), machine.observer)


def _wait(binding: Binding) -> Step:
    (operand,) = binding.expect(1)
    if not isinstance(operand, Integer):
        raise binding.error(f"'{binding.instruction.mnemonic}' takes a constant")
    machine, left, where = binding.machine, operand.value, binding.instruction
    return lambda: machine.transfers.wait(where, machine.active(), left, machine.observer)
