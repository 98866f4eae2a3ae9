"""Bulk and tensor copies that are in flight. PTX ISA, "Asynchronous Data Movement".

A copy to shared memory happens when a thread asks the mbarrier that it completes, as late as may
be; until then its bytes are 0xFF. A copy from shared memory happens when its thread waits for
its group. Where the order of warps is drawn at random, some happen at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from .alu import Array
from .observer import Observer
from .phases import Phases, pack, unpack
from .ptx.module import Instruction
from .wave import Wave

if TYPE_CHECKING:
    from random import Random

    from .checks.commits import Commit
    from .checks.in_flight import Thread
    from .checks.operation import Operation
    from .timeline.recorder import Recorder


@dataclass(slots=True)
class Load:
    """A copy to the shared memory of one CTA.

    Attributes:
        instruction: the instruction.
        thread: who issued it.
        move: moves the bytes.
        barrier: the 8-byte element of memory of the mbarrier that is told.
        bytes: how many it is told.
        operation: what is known of the bytes it writes, where that is checked.
        arrivals: how many the mbarrier is told; none of a copy.
        commit: what it tells the mbarrier of, where that is checked; of a copy nothing.
    """

    instruction: Instruction
    thread: Thread
    move: Callable[[], None]
    barrier: int
    bytes: int
    operation: Operation | None
    arrivals: int = 0
    commit: Commit | None = None


@dataclass(slots=True)
class Store:
    """A copy from the shared memory of its thread's CTA.

    Attributes:
        instruction: the instruction.
        move: moves the bytes.
        group: the group that it belongs to.
        operation: what is known of the bytes it reads, where that is checked.
    """

    instruction: Instruction
    move: Callable[[], None]
    group: int
    operation: Operation | None


@dataclass(slots=True)
class _Groups:
    """The bulk groups of a thread."""

    committed: int = 0
    stores: list[Store] = field(default_factory=list)


class Transfers:
    """The copies of a wave.

    Attributes:
        early: decides which copies to shared memory happen at once; None for none.
        recorder: records the timeline of a CTA; None of none.
    """

    def __init__(self, wave: Wave, phases: Phases) -> None:
        self.wave = wave
        self.phases = phases
        self.restart()

    def restart(self) -> None:
        """Begin a launch."""
        self.early: Random | None = None
        self.recorder: Recorder | None = None
        self._loads: list[Load] = []
        self._groups: dict[Thread, _Groups] = {}

    def begin(self) -> None:
        """Begin a wave."""
        self._loads.clear()
        self._groups.clear()

    # To shared memory

    def load(self, load: Load, observer: Observer | None) -> None:
        """A copy is issued."""
        if self.recorder is not None:
            self.recorder.load(load, load.instruction, load.thread, load.bytes)
        if observer is not None and observer.orders is not None:
            observer.orders.load(
                load.instruction,
                load.thread,
                load.barrier,
                load.operation,
                bytes_=load.bytes,
                arrivals=load.arrivals,
            )
        if self.early is not None and self.early.random() < 0.5:
            self._land(load, observer)
        else:
            self._loads.append(load)

    def land(self, index: Array, observer: Observer | None) -> None:
        """Complete the copies that mbarriers, given as elements of memory, wait for."""
        if not self._loads:
            return
        asked = set(index.tolist())
        landing = [load for load in self._loads if load.barrier in asked]
        if landing:
            self._loads = [load for load in self._loads if load.barrier not in asked]
            for load in landing:
                self._land(load, observer)

    def land_some(self, observer: Observer | None) -> bool:
        """Complete the oldest copy though nobody has asked for it; whether there was one."""
        if not self._loads:
            return False
        self._land(self._loads.pop(0), observer)
        return True

    def _land(self, load: Load, observer: Observer | None) -> None:
        load.move()
        if self.recorder is not None:
            self.recorder.landed(load)
        objects = np.array([load.barrier])
        view = self.wave.memory.views[64]
        before = view[objects]
        ctas, offsets = self.phases.places(objects)
        known = self.phases.known(int(offsets[0]))
        if load.operation is not None and known is not None:
            load.operation.phase = int(known.phase[ctas[0]])
        if load.commit is not None and known is not None:
            load.commit.phase = int(known.phase[ctas[0]])
        pending, expected, phase, bytes_ = unpack(before)
        bytes_, pending = bytes_ - load.bytes, pending - load.arrivals
        done = (pending == 0) & (bytes_ == 0)
        view[objects] = pack(np.where(done, expected, pending), expected, phase + done, bytes_)
        for offset, completed in self.phases.change(
            load.instruction, objects, before, view[objects]
        ):
            if observer is not None:
                observer.mbarriers.completed(offset, completed)

    # From shared memory

    def store(
        self, thread: Thread, store: Callable[[int], Store], observer: Observer | None
    ) -> None:
        """A copy is issued; `store` makes it, given its group."""
        groups = self._groups.setdefault(thread, _Groups())
        issued = store(groups.committed)
        groups.stores.append(issued)
        if self.recorder is not None:
            self.recorder.store(issued, issued.instruction, thread)
        if observer is not None and observer.orders is not None:
            observer.orders.store(issued.instruction, thread, issued.operation)

    def commit(self, instruction: Instruction, threads: Array, observer: Observer | None) -> None:
        """Threads close their group of copies."""
        if observer is not None and observer.orders is not None:
            observer.orders.copies_commit(instruction, bulk=True)
        for thread in map(_thread, np.argwhere(threads).tolist()):
            self._groups.setdefault(thread, _Groups()).committed += 1

    def wait(
        self, instruction: Instruction, threads: Array, left: int, observer: Observer | None
    ) -> None:
        """Threads wait for their groups but the last `left`."""
        if observer is not None and observer.orders is not None:
            observer.orders.copies_wait(instruction, left, bulk=True)
        for thread, groups in self._groups.items():
            if groups.stores and threads[thread]:
                self._finish(thread, groups, groups.committed - left, observer)

    def _finish(
        self, thread: Thread, groups: _Groups, before: int, observer: Observer | None
    ) -> None:
        done = [store for store in groups.stores if store.group < before]
        groups.stores = [store for store in groups.stores if store.group >= before]
        for store in done:
            store.move()
            if self.recorder is not None:
                self.recorder.landed(store)
            if store.operation is not None and observer is not None:
                observer.finished(store.operation, thread)

    def exited(self, threads: Array, observer: Observer | None) -> None:
        """Threads have exited: what they have not waited for happens nevertheless."""
        for thread, groups in self._groups.items():
            if not groups.stores or not threads[thread]:
                continue
            if observer is not None:
                for store in groups.stores:
                    observer.left_behind(store.instruction, thread)
            last = groups.stores[-1].group
            self._finish(thread, groups, last + 1, None)

    def end(self, observer: Observer | None) -> None:
        """The wave ends: copies that nobody has waited for happen too late."""
        for load in self._loads:
            if observer is not None:
                observer.never_awaited(load.instruction, load.thread)
            load.move()
        self._loads.clear()


def _thread(at: list[int]) -> Thread:
    return at[0], at[1], at[2]
