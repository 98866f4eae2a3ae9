"""CTA barriers: who waits where, and when they go on. PTX ISA, "bar, barrier"."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from tilec.isa import LANES
from tilec.isa.wording import counted

from .alu import Array
from .groups import Group
from .machine import Machine
from .registers import ZEROS
from .sync import BarrierSync


@dataclass(slots=True)
class _Barrier:
    """One barrier number, in all CTAs of the wave.

    Attributes:
        waiting: groups that wait, with the instruction that they wait at.
        passed: threads that have arrived and gone on.
        expected: threads that each CTA's barrier waits for; 0 where that is all of them.
    """

    waiting: list[tuple[Group, BarrierSync]] = field(default_factory=list)
    passed: Array | None = None
    expected: Array | None = None


class Barriers:
    """The barriers of a wave's CTAs."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._barriers: dict[int, _Barrier] = {}

    @property
    def waiting(self) -> bool:
        """Whether any thread waits."""
        return any(barrier.waiting for barrier in self._barriers.values())

    def arrive(self, group: Group, sync: BarrierSync) -> list[Group]:
        """Let a group arrive; the groups that may go on, after the instruction."""
        machine = self.machine
        mask = machine.active()
        numbers = machine.full(machine.registers[sync.number])
        counts = None if sync.count is None else machine.full(machine.registers[sync.count])
        freed: list[Group] = []
        for number in np.unique(numbers[mask]).tolist():
            part = mask & (numbers == number)
            barrier = self._barriers.setdefault(number, _Barrier())
            if barrier.expected is None:
                barrier.expected = np.zeros(machine.shape[0], np.int64)
            if counts is not None:
                wanted = np.where(part, counts, 0).max(axis=(1, 2))
                barrier.expected = np.where(part.any(axis=(1, 2)), wanted, barrier.expected)
            here = group.at(group.frame, group.block, group.index, part, machine.live)
            if machine.observer is not None:
                machine.observer.arrive(number, part)
                self._defined(sync)
                if machine.observer.orders is not None:
                    machine.observer.orders.barrier(
                        sync.instruction, number, part, counts, waits=not sync.arrive
                    )
            if sync.arrive:
                if barrier.passed is None:
                    barrier.passed = np.zeros(machine.shape, np.bool_)
                barrier.passed = barrier.passed | part
                here.index += 1
                freed.append(here)
            else:
                barrier.waiting.append((here, sync))
                if machine.recorder is not None:
                    machine.recorder.wait(sync.instruction, part, f"barrier {number} of the CTA")
            freed += self._complete(number, barrier)
        return freed

    def _defined(self, sync: BarrierSync) -> None:
        """What a barrier is told must be defined."""
        assert self.machine.observer is not None
        slots = (sync.number, sync.count, sync.predicate)
        given = [slot for slot in slots if slot is not None]
        if sync.count is not None:
            count = self.machine.full(self.machine.registers[sync.count])
            self.machine.observer.counted(sync.instruction, count)
        self.machine.observer.taint.harm_by(sync.instruction, given, "has an operand made of")

    def exited(self) -> list[Group]:
        """What may go on now that threads have exited."""
        freed: list[Group] = []
        for number, barrier in self._barriers.items():
            if barrier.waiting:
                freed += self._complete(number, barrier)
        return freed

    def _complete(self, number: int, barrier: _Barrier) -> list[Group]:
        """Free the CTAs whose threads have all come."""
        machine = self.machine
        here = np.zeros(machine.shape, np.bool_)
        for group, _ in barrier.waiting:
            here |= self._mask(group)
        live = np.ones(machine.shape, np.bool_) if machine.live is None else machine.live
        arrived = here if barrier.passed is None else here | barrier.passed
        absent = np.asarray((live & ~arrived).any(axis=2))
        warps = np.asarray(arrived.any(axis=2) & ~absent).sum(axis=1)
        assert barrier.expected is not None
        done = np.where(
            barrier.expected > 0, warps * LANES >= barrier.expected, ~absent.any(axis=1)
        )
        done &= here.any(axis=(1, 2))
        if not done.any():
            return []
        chosen = done[:, None, None]
        if machine.observer is not None:
            counted = bool((barrier.expected[done] > 0).any())
            machine.observer.release(
                barrier.waiting[0][1].instruction, number, here & chosen, done, all_=not counted
            )
        if machine.recorder is not None:
            machine.recorder.go_on(here & chosen)
        freed, kept = [], []
        results = self._reduce(barrier, done)
        for group, sync in barrier.waiting:
            mask = self._mask(group)
            go, stay = mask & chosen, mask & ~chosen
            if go.any():
                free = group.at(group.frame, group.block, group.index + 1, go, machine.live)
                if sync.target is not None:
                    self._deliver(sync, go, results)
                freed.append(free)
            if stay.any():
                rest = group.at(group.frame, group.block, group.index, stay, machine.live)
                kept.append((rest, sync))
        barrier.waiting = kept
        barrier.expected = np.where(done, 0, barrier.expected)
        if barrier.passed is not None:
            barrier.passed = barrier.passed & ~chosen
        return freed

    def _mask(self, group: Group) -> Array:
        everyone = np.ones((1, 1, 1), np.bool_)
        return self.machine.full(everyone if group.mask is None else group.mask)

    def _reduce(self, barrier: _Barrier, done: Array) -> Array:
        """Threads of each CTA whose predicate holds, and threads in all, of shape (2, CTAs)."""
        machine = self.machine
        holds = np.zeros(machine.shape, np.bool_)
        here = np.zeros(machine.shape, np.bool_)
        for group, sync in barrier.waiting:
            mask = self._mask(group)
            here |= mask
            if sync.predicate is not None:
                holds |= mask & machine.full(machine.registers[sync.predicate])
        return np.stack([(holds & done[:, None, None]).sum((1, 2)), here.sum((1, 2))])

    def _deliver(self, sync: BarrierSync, mask: Array, counts: Array) -> None:
        assert sync.target is not None
        result = reduction(sync, counts[0], counts[1])[:, None, None]
        old = self.machine.registers[sync.target]
        if old.shape == ZEROS[1].shape and not mask.all():
            old = self.machine.full(old)
        self.machine.registers[sync.target] = np.where(mask, result, old)

    def groups(self) -> list[Group]:
        """The groups that wait."""
        return [group for b in self._barriers.values() for group, _ in b.waiting]

    def describe(self) -> list[str]:
        """Of each barrier that holds threads, how many have come and where they wait."""
        words = []
        for number, barrier in self._barriers.items():
            for group, sync in barrier.waiting:
                expected = "all" if sync.count is None else str(int(barrier.expected.max()))  # type: ignore[union-attr]
                words.append(
                    f"barrier {number} (of {counted(expected, 'thread')}) blocks "
                    f"{counted(group.threads, 'thread')} at "
                    f"{group.frame.place(group.block, group.index)}"
                )
        return words


def reduction(sync: BarrierSync, holding: Array, threads: Array) -> Array:
    """The result of `bar.red` of each CTA."""
    match sync.reduction:
        case "popc":
            return holding.astype(np.uint32)
        case "and":
            return np.asarray(holding == threads)
        case _:
            return np.asarray(holding > 0)
