"""Clusters: their barrier, and addresses of other CTAs' shared memory.

PTX ISA, "barrier.cluster", "mapa", "getctarank", "st.async", "red.async".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from tilec.isa.types import TYPE_BITS

from ..access import Access
from ..alu import Array
from ..alu.bits import width
from ..binding import Binding
from ..checks.visitors import Touching
from ..machine import Machine, Step
from ..memory import RANK_OFFSET, RANK_SHIFT, SHARED_WINDOW
from ..sync import Gate, Members
from ..traits import PLAIN
from ..transfers import Load
from ..widths import dtype_of
from .delivery import Courier, Place, places
from .mbarrier import MBarrier
from .reductions import combiner
from .registry import instruction

BARRIER = -1
"""The number of the cluster barrier among a CTA's barriers, as far as memory is ordered."""


def publish(machine: Machine) -> None:
    """The active threads publish what they have done."""
    active = machine.active()
    machine.clusters.fenced |= active.any(axis=2)
    machine.phases.publish(np.asarray(active.any(axis=(1, 2))))


def bind_barrier(binding: Binding) -> Step:
    """The step of `barrier.cluster.arrive` or `.wait`."""
    binding.expect(0)
    modifiers, machine = binding.modifiers, binding.machine
    if "arrive" in modifiers:
        if "aligned" in modifiers:
            binding.sync = Members()
        return _arrive(binding)
    if "wait" not in modifiers:
        raise binding.error(f"unsupported instruction '{binding.instruction.mnemonic}'")
    clusters, observer = machine.clusters, machine.observer
    binding.sync = Gate(binding.instruction, clusters.ready, "the barrier of the cluster")

    def step() -> None:
        active = machine.active()
        clusters.wait(active)
        if observer is not None:
            if observer.orders is not None:
                observer.orders.cluster(binding.instruction, active, waits=True)
            observer.progress.leave_cluster(BARRIER, active)

    return step


def _arrive(binding: Binding) -> Step:
    machine = binding.machine
    clusters, observer = machine.clusters, machine.observer
    relaxed = "relaxed" in binding.modifiers

    def step() -> None:
        active = machine.active()
        if not relaxed:
            publish(machine)
        if observer is not None:
            if observer.orders is not None:
                observer.orders.cluster(binding.instruction, active, waits=False)
            # A relaxed arrival publishes what a fence before it has.
            released = active & clusters.fenced[..., None]
            if released.any():
                observer.progress.arrive(BARRIER, released)
        clusters.fenced &= ~active.any(axis=2)
        clusters.arrive(active)

    return step


@instruction("mapa", traits=PLAIN)
def _mapa(binding: Binding) -> Step:
    modifiers, machine = binding.modifiers, binding.machine
    target, address, rank = binding.expect(3)
    type_ = modifiers[-1]
    to, slot = binding.target(target, type_), binding.source(address, type_)
    rank_slot = binding.source(rank, "u32")
    registers, alone = machine.registers, machine.geometry.cluster_ctas == 1
    window = 0 if "shared::cluster" in modifiers else SHARED_WINDOW
    dtype = dtype_of(width(type_))

    def step() -> None:
        ranks = registers[rank_slot].astype(np.int64)
        inside = registers[slot].astype(np.int64) - window & RANK_OFFSET
        code = np.where(ranks == 0, 0, ranks + 1) if alone else ranks + 1
        if to is not None:
            machine.write(to, (window + (code << RANK_SHIFT | inside)).astype(dtype))

    return step


@instruction("getctarank", traits=PLAIN)
def _rank(binding: Binding) -> Step:
    modifiers, machine = binding.modifiers, binding.machine
    target, address = binding.expect(2)
    to, slot = binding.target(target, "u32"), binding.source(address, modifiers[-1])
    registers = machine.registers
    window = 0 if "shared::cluster" in modifiers else SHARED_WINDOW

    def step() -> None:
        code = registers[slot].astype(np.int64) - window >> RANK_SHIFT
        own = np.arange(machine.shape[0]).reshape(-1, 1, 1) % machine.geometry.cluster_ctas
        if to is not None:
            machine.write(to, np.where(code == 0, own, code - 1).astype(np.uint32))

    return step


def bind_async(binding: Binding) -> Step:
    """`st.async` and `red.async`: elements for another CTA, whose mbarrier is told."""
    modifiers, machine = binding.modifiers, binding.machine
    target, value, barrier = binding.expect(3)
    type_ = modifiers[-1]
    bits = TYPE_BITS.get(type_, 0)
    items = binding.items(value)
    if bits not in (32, 64) or bits * len(items) > 128:
        raise binding.error(f"'{binding.instruction.mnemonic}' takes up to 128 bits")
    reduces = binding.instruction.opcode == "red"
    combine = combiner(modifiers[-2], type_, binding.machine.numerics) if reduces else None
    slots = [binding.source(item, type_) for item in items]
    to, objects = (
        binding.locate(target, ("shared::cluster",)),
        MBarrier(binding, barrier, named=False),
    )
    size, courier = bits // 8 * len(items), Courier(binding)
    registers = machine.registers

    def touch(place: Place) -> Touching:
        kind = Access.ATOMIC if reduces else Access.WRITE
        at = [np.array([n]) for n in (place.thread, place.cta, place.offset)]
        return Touching(binding.instruction, kind, at[0], at[1], at[2], size)

    def move(place: Place, new: Array) -> None:
        start = courier.base(place.cta) + place.offset
        at = slice(start, start + size)
        data = machine.memory.data
        old = data[at].view(new.dtype)
        data[at] = (new if combine is None else combine(old.copy(), new)).view(np.uint8)

    def step() -> None:
        index, chosen = objects.places()
        barriers = dict(zip(map(tuple, np.argwhere(chosen).tolist()), index.tolist(), strict=True))
        values = [machine.full(registers[slot]) for slot in slots]
        for place in places(machine, to):
            object_ = barriers.get(place.thread)
            if object_ is None:
                continue
            if not courier.legal(place, size, size, writes=True):
                courier.tell(place.thread, object_, size)
                continue
            courier.signal(place.thread, object_)
            new = np.array([v[place.thread] for v in values], dtype_of(bits))
            load = Load(
                binding.instruction,
                place.thread,
                _announced(machine, touch(place), object_, partial(move, place, new)),
                object_,
                size,
                None,
            )
            machine.transfers.load(load, machine.observer)

    return step


def _announced(
    machine: Machine, touching: Touching, object_: int, move: Callable[[], None]
) -> Callable[[], None]:
    """A move to another CTA's memory that whoever waits for the mbarrier comes after."""
    if machine.observer is None:
        return move
    races = machine.observer.peer_races
    races.touch(touching)
    if touching.kind is Access.WRITE:
        machine.observer.overwritten(touching)
    ctas, offsets = machine.phases.places(np.array([object_]))
    sent = races.sent(touching.threads[0])

    def arrive() -> None:
        move()
        races.arrived(int(offsets[0]), int(ctas[0]), sent)

    return arrive
