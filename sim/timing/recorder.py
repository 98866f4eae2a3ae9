"""Records what the warps of a cluster do, instruction by instruction, for a timing model.

Two objects are told: by the scheduler, of every instruction before it is executed, and by the
checks, of what it then does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import target as find_target
from tilec.isa.described_product import product_named
from tilec.layout import wavefronts

from ..access import Access
from ..alu import Array
from ..machine import Machine
from ..memory import Space
from ..orders.ops import Kind, Op
from ..orders.recorder import OrderRecorder
from ..placement import Placement
from ..ptx.module import Instruction, Module
from ..timeline.recorder import Recorder
from ..traffic import SECTOR_SHIFT
from ..traits import Unit, traits, unit
from .events import Event
from .schedule import Recording

if TYPE_CHECKING:
    from ..report import Report

LIMIT = 400_000
"""Instructions of warps after which nothing more is recorded."""
_SECTOR = 1 << SECTOR_SHIFT
_UNCACHED = frozenset({"cg", "cv"})


class EventRecorder(Recorder):
    """Keeps the instructions of the CTAs of one cluster; a timeline of one of them besides.

    Attributes:
        warps: the events of each warp, CTA by CTA.
        cut: whether the cluster went on, and was not recorded any further.
    """

    def __init__(self, machine: Machine, module: Module, kernel: str, number: int) -> None:
        super().__init__(machine, module, kernel, number)
        geometry = machine.geometry
        self._machine = machine
        self._size = geometry.cluster_ctas
        self._first_number = number // self._size * self._size
        self.warps: list[list[Event]] = [[] for _ in range(self._size * geometry.warps)]
        self.cut = False
        self.first: int | None = None
        self._kept_events = 0
        self._seen: list[set[int]] = [set() for _ in range(self._size)]
        self._products = 0.0
        self._issuing: list[Event] = []
        self._issuers = 0
        self.ops = _OpRecorder(self, machine, module)

    def begin(self) -> None:
        """Begin a wave."""
        super().begin()
        here = np.flatnonzero(self._machine.numbers == self._first_number).tolist()
        self.first = here[0] if here else None
        self._issuing = []

    @property
    def ctas(self) -> range:
        """The recorded CTAs, by their places in the wave; none if they are not in it."""
        return range(0) if self.first is None else range(self.first, self.first + self._size)

    def issue(self, instruction: Instruction) -> None:
        """The active threads come to an instruction."""
        super().issue(instruction)
        self._note_products()
        if self.first is None or self.cut:
            return
        active = self._machine.active()
        here = active[self.first : self.first + self._size].any(axis=2).reshape(-1)
        tensor = instruction.opcode == "tcgen05" and unit(instruction) is Unit.TENSOR
        self._issuers = int(np.count_nonzero(active)) if tensor else 0
        for warp in np.flatnonzero(here).tolist():
            event = Event(instruction)
            self.warps[warp].append(event)
            self._kept_events += 1
            if tensor:
                self._issuing.append(event)
        self.cut = self._kept_events >= LIMIT

    def _note_products(self) -> None:
        """Products in tensor memory since the last instruction belong to that."""
        products = self._machine.tensor_products.items()
        done = sum(flops * _width(name) * times for (name, flops), times in products)
        for event in self._issuing:
            event.flops = (done - self._products) / max(self._issuers, 1)
        self._products, self._issuing = done, []

    def recording(self, report: Report, footprint: int, placement: Placement) -> Recording:
        """What has been recorded.

        Args:
            report: what the whole launch did.
            footprint: bytes of its arrays.
            placement: the kernel's.
        """
        self._note_products()
        machine, geometry = self._machine, self._machine.geometry
        asked = report.sectors * _SECTOR + report.copied
        return Recording(
            placement.kernel.name, machine.arch, self.warps, len(machine.started), self._size,
            most_resident(placement.shared_bytes, geometry.warps, machine.arch),
            min(footprint / asked, 1.0) if asked else 0.0, self.place, self.cut,
        )  # fmt: skip

    def current(self, cta: int, warp: int) -> Event | None:
        """The last event of a warp, by its CTA's place in the wave."""
        if self.first is None or cta not in self.ctas:
            return None
        events = self.warps[self._warp(cta, warp)]
        return events[-1] if events else None

    def _warp(self, cta: int, warp: int) -> int:
        assert self.first is not None
        return (cta - self.first) * self._machine.geometry.warps + warp

    def attach(self, cta: int, warp: int, op: Op) -> None:
        """A warp's last instruction did something that others may wait for."""
        event = self.current(cta, warp)
        if event is None:
            return
        if op.kind is Kind.WAIT:
            self._drop_questions(self.warps[self._warp(cta, warp)])
        event.ops.append(op)

    @staticmethod
    def _drop_questions(events: list[Event]) -> None:
        """Drop those in vain before the last, and the loops around them: the model waits once."""
        position, first = events[-1].instruction.position, len(events) - 1
        for at in range(len(events) - 2, -1, -1):
            event = events[at]
            what = event.instruction
            asks = traits(what).waits or what.opcode == "nanosleep"
            if not event.quiet or not (asks or unit(what) in (Unit.CONTROL, Unit.ARITHMETIC)):
                break
            if what.position == position:
                first = at
        del events[first:-1]

    def sectors(self, cta: int, places: Array, size: int, *, near: bool) -> tuple[int, int]:
        """Bytes of the sectors at places that the CTA has loaded before, and of the others."""
        ends = (places + size - 1) >> SECTOR_SHIFT
        found = np.unique(np.concatenate([places >> SECTOR_SHIFT, ends])).tolist()
        if not near:
            return 0, len(found) * _SECTOR
        assert self.first is not None
        seen = self._seen[cta - self.first]
        fresh = [one for one in found if one not in seen]
        seen.update(fresh)
        return (len(found) - len(fresh)) * _SECTOR, len(fresh) * _SECTOR


def most_resident(shared: int, warps: int, arch: str) -> int:
    """CTAs that an SM holds, by shared memory and warps; at least one."""
    sm = find_target(arch)
    fit = min(sm.warps_per_sm // warps, sm.ctas_per_sm)
    taken = shared + sm.reserved_shared if shared else 0
    return max(min(fit, sm.shared_per_sm // taken) if taken else fit, 1)


@cache
def _width(name: str) -> float:
    """Of what a product in tensor memory multiplies, against 16 bits; of 8 at least."""
    bits = max(one.type.bits for one in product_named(name).operands[:2])
    return max(bits, 8) / 16


class _OpRecorder(OrderRecorder):
    """Told by the checks; gives ops to the events of the recorded CTAs."""

    def __init__(self, events: EventRecorder, machine: Machine, module: Module) -> None:
        super().__init__(machine, module, limit=1)
        self._events = events

    def _add(self, cta: int, warp: int, op: Op) -> None:
        self._events.attach(cta, warp, op)

    def _each(self, threads: Array | None = None) -> Iterator[tuple[int, int, int]]:
        mask = self.wave.active() if threads is None else self.wave.full(threads)
        bits = np.uint64(1) << np.arange(mask.shape[2], dtype=np.uint64)
        for cta in self._events.ctas:
            lanes = (mask[cta] * bits).sum(axis=1, dtype=np.uint64)
            for warp in np.flatnonzero(lanes).tolist():
                yield cta, warp, int(lanes[warp])

    def access(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        values: Sequence[Array] | None = None,
    ) -> None:
        """Threads access memory."""
        if kind is Access.BARRIER or space.name not in ("shared", "global"):
            return
        if kind is Access.ASYNC_WRITE:
            super().access(instruction, space, offsets, size, mask, kind, values)
            return
        threads = self.wave.active() if mask is None else self.wave.full(mask)
        at = self.wave.full(offsets)
        for cta, warp, _ in self._each(threads):
            event = self._events.current(cta, warp)
            if event is None:
                continue
            here, lanes = at[cta, warp], threads[cta, warp]
            if space.name == "shared":
                found = wavefronts.count(
                    here[None] & ~(size - 1), size, lanes[None], store=kind.writes
                )
                event.passes += int(found.wavefronts[0])
                continue
            cached = kind is Access.READ and not _UNCACHED & set(instruction.modifiers)
            near, far = self._events.sectors(
                cta, here[lanes], size, near=cached and instruction.opcode != "cp"
            )
            if kind.writes:
                event.stored += far
            else:
                event.near, event.far = event.near + near, event.far + far
