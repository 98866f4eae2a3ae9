"""Issues copies between global and shared memory, for the threads that execute one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from tilec.isa.wording import counted

from ..access import Access
from ..alu import Array
from ..binding import Binding, Locate
from ..checks.in_flight import Thread
from ..checks.operations import GRANULE
from ..checks.sets import distinct
from ..machine import Machine
from ..memory import RANK_OFFSET, RANK_SHIFT
from ..transfers import Load, Store

_POISON = 0xFF
"""What a copy's target holds until it is complete."""


@dataclass(frozen=True, slots=True)
class Place:
    """Shared memory that a thread names.

    Attributes:
        thread: the thread.
        cta: whose shared memory, as its place in the wave.
        offset: in that.
    """

    thread: Thread
    cta: int
    offset: int


@dataclass(frozen=True, slots=True)
class Target:
    """Global memory that a copy writes, or reduces into.

    Attributes:
        offsets: where each part begins, (n,).
        size: bytes of each.
        new: their new bytes, (n, size), given where the shared memory begins; None of a reduction.
    """

    offsets: Array
    size: int
    new: Callable[[int], Array] | None


def places(machine: Machine, locate: Locate) -> list[Place]:
    """The shared memory that each active thread names."""
    found = []
    size = machine.geometry.cluster_ctas
    for space, offsets, mask in locate():
        active = machine.active() if mask is None else machine.full(mask)
        addresses = machine.full(offsets)
        for cta, warp, lane in np.argwhere(active).tolist():
            offset, owner = int(addresses[cta, warp, lane]), cta
            if space.name == "shared::cluster":
                owner = cta // size * size + (offset >> RANK_SHIFT) - 1
                offset &= RANK_OFFSET
            found.append(Place((cta, warp, lane), owner, offset))
    return sorted(found, key=lambda place: place.thread)


class Courier:
    """Issues the copies of one instruction."""

    def __init__(self, binding: Binding) -> None:
        self.instruction = binding.instruction
        self.machine = binding.machine

    def legal(self, place: Place, size: int, align: int, *, writes: bool) -> bool:
        """Whether so many bytes of shared memory may be touched; a finding where not."""
        machine = self.machine
        if machine.observer is None:
            return place.offset >= 0 and place.offset + size <= machine.memory.shared_stride
        if machine.geometry.cluster_ctas > 1 and not machine.observer.peer(
            self.instruction, place.thread, place.cta
        ):
            return False
        kind = Access.WRITE if writes else Access.READ
        return machine.observer.span(
            self.instruction, place.thread, "shared", place.offset, size, align, kind
        )

    def legal_global(
        self, thread: Thread, address: int, size: int, align: int, *, writes: bool
    ) -> bool:
        """Whether so many bytes of global memory, at an offset, may be touched."""
        machine = self.machine
        if machine.observer is None:
            if address < 0 or address + size > machine.memory.data.size:
                raise IndexError(f"{counted(size, 'byte')} of global memory")
            return True
        kind = Access.WRITE if writes else Access.READ
        return machine.observer.span(self.instruction, thread, "global", address, size, align, kind)

    def read_global(self, thread: Thread, offsets: Array, size: int) -> None:
        """A copy that is issued reads parts of `size` bytes of global memory, (n,)."""
        if self.machine.observer is not None:
            checks = self.machine.observer.global_
            checks.issued(self.instruction, thread, offsets, size, writes=False)
            checks.copied(self.instruction, thread, offsets, size, Access.READ)

    def base(self, cta: int) -> int:
        """Where the shared memory of a CTA begins in the array of bytes."""
        memory = self.machine.memory
        return memory.shared_base + cta * memory.shared_stride

    def load(
        self,
        place: Place,
        places_: Array,
        barrier: int,
        bytes_: int,
        move: Callable[[int], None],
        *,
        poison: bool = True,
        swizzle: str = "",
        pair: bool = False,
    ) -> None:
        """Issue a copy to shared memory.

        Args:
            place: where to, and for whom.
            places_: offsets in that CTA's shared memory of all bytes, or of their 16-byte granules.
            barrier: element of memory of the mbarrier.
            bytes_: how many it is told.
            move: moves the bytes, given where the shared memory begins.
            poison: whether the bytes are undefined until then.
            swizzle: how a tensor copy arranges them.
            pair: whether the mbarrier may be in the other CTA of a pair.
        """
        machine, base = self.machine, self.base(place.cta)
        granules = distinct(places_ // GRANULE)
        operation = None
        if machine.observer is not None:
            home, offset = self.signal(place.thread, barrier)
            machine.observer.traffic.count_copied(self.instruction, bytes_)
            if machine.observer.in_flight is not None:
                operation = machine.observer.in_flight.write(
                    self.instruction,
                    place.thread,
                    place.cta,
                    granules,
                    offset if home == place.cta or pair else None,
                    swizzle,
                    home,
                )
        if poison:
            at = base + granules[:, None] * GRANULE + np.arange(GRANULE)
            machine.memory.data[at] = _POISON
        load = Load(self.instruction, place.thread, lambda: move(base), barrier, bytes_, operation)
        machine.transfers.load(load, machine.observer)

    def signal(self, thread: Thread, barrier: int) -> tuple[int, int]:
        """A thread's copy takes part in a phase of an mbarrier; the mbarrier's CTA and offset."""
        machine, memory = self.machine, self.machine.memory
        home, offset = divmod((barrier << 3) - memory.shared_base, memory.shared_stride)
        if machine.observer is not None and machine.geometry.cluster_ctas > 1:
            machine.observer.peers.signal(self.instruction, thread, home, offset)
        return home, offset

    def tell(self, thread: Thread, barrier: int, bytes_: int) -> None:
        """Let an mbarrier have the bytes of a copy that is not made, so that the run goes on."""
        load = Load(self.instruction, thread, _nothing, barrier, bytes_, None)
        self.machine.transfers.load(load, self.machine.observer)

    def stray(self, thread: Thread, home: int) -> None:
        """A copy of a pair tells an mbarrier of neither of its CTAs."""
        observer = self.machine.observer
        if observer is not None:
            name = self.machine.cta_name(home)
            words = f"tells an mbarrier of {name}, which is not of its pair"
            observer.blame("cluster", self.instruction, thread, words)

    def store(
        self,
        place: Place,
        places_: Array,
        bytes_: int,
        move: Callable[[int], None],
        target: Target,
    ) -> None:
        """Issue a copy from shared memory; arguments as for `load`.

        Its bytes are written in global memory when its thread waits for it.
        """
        machine, base = self.machine, self.base(place.cta)

        def moved() -> None:
            if machine.observer is not None:
                kind = Access.WRITE if target.new is not None else Access.ATOMIC
                values = None if target.new is None else target.new(base)
                machine.observer.global_.copied(
                    self.instruction, place.thread, target.offsets, target.size, kind, values
                )
            move(base)

        operation = None
        if machine.observer is not None:
            machine.observer.traffic.count_copied(self.instruction, bytes_)
            machine.observer.global_.issued(
                self.instruction, place.thread, target.offsets, target.size, writes=True
            )
            if machine.observer.in_flight is not None:
                granules = distinct(places_ // GRANULE)
                operation = machine.observer.in_flight.read(
                    self.instruction, [place.thread], granules
                )
        machine.transfers.store(
            place.thread,
            lambda group: Store(self.instruction, moved, group, operation),
            machine.observer,
        )

    def receivers(self, place: Place, mask: int | None) -> Iterator[tuple[Place, int]]:
        """Where a copy goes: one place, or those of a multicast, with the distance between CTAs."""
        if mask is None:
            yield place, 0
            return
        size = self.machine.geometry.cluster_ctas
        first = place.thread[0] // size * size
        for rank in range(16):
            if mask >> rank & 1 and rank < size:
                cta = first + rank
                yield Place(place.thread, cta, place.offset), cta - place.cta


def _nothing() -> None:
    """A copy that was not legal moves nothing."""
