"""Products of warpgroups in flight: registers and shared memory until the wait for them.

PTX ISA, "wgmma.fence", "wgmma.commit_group", "wgmma.wait_group". The simulator computes a product
when it is issued; what is kept here is what must not be touched until a wait covers it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa import WARPGROUP_WARPS

from ..alu import Array
from ..findings import Findings
from ..ptx.module import Instruction
from ..wave import Wave
from .in_flight import InFlight
from .operation import Operation

if TYPE_CHECKING:
    from ..orders.recorder import OrderRecorder


@dataclass(slots=True)
class _Register:
    """What is known of one register, of each warpgroup.

    Attributes:
        group: the last group with a product that uses it, counted from 1; 0 of none.
        touched: when other instructions last wrote it.
        used: when a product last used it.
        shape: the shape of that product.
        line: the product's position in the text.
    """

    group: Array
    touched: Array
    used: Array
    shape: str = ""
    line: int = 0

    def copy(self) -> _Register:
        """The same, apart."""
        return _Register(
            self.group.copy(), self.touched.copy(), self.used.copy(), self.shape, self.line
        )


class Warpgroups:
    """The products of a wave that no wait has covered."""

    def __init__(self, wave: Wave, findings: Findings, in_flight: InFlight) -> None:
        self.wave = wave
        self.restart(findings, in_flight)

    def restart(self, findings: Findings, in_flight: InFlight) -> None:
        """Begin a launch."""
        self.findings = findings
        self.in_flight = in_flight
        self.orders: OrderRecorder | None = None

    def begin(self) -> None:
        """Begin a wave."""
        ctas, warps, _ = self.wave.shape
        self._shape = ctas, -(-warps // WARPGROUP_WARPS)
        self._committed = np.zeros(self._shape, np.int64)
        self._complete = np.zeros(self._shape, np.int64)
        self._fenced = np.zeros(self._shape, np.int64)
        self._time = 1
        self._registers: dict[int, _Register] = {}
        self._reads: dict[tuple[int, int], list[tuple[int, Operation]]] = {}

    def of(self, threads: Array) -> Array:
        """The warpgroups of some threads, (CTAs, warpgroups)."""
        ctas, groups = self._shape
        padded = np.zeros((ctas, groups * WARPGROUP_WARPS), np.bool_)
        padded[:, : threads.shape[1]] = threads.any(axis=2)
        return np.asarray(padded.reshape(ctas, groups, WARPGROUP_WARPS).any(axis=2))

    def _known(self, slot: int) -> _Register:
        found = self._registers.get(slot)
        if found is None:
            zeros = np.zeros(self._shape, np.int64)
            found = self._registers[slot] = _Register(zeros, zeros.copy(), zeros.copy())
        return found

    # Fences and waits

    def fence(self) -> None:
        """The active warpgroups execute `wgmma.fence`."""
        self._time += 1
        self._fenced[self.of(self.wave.active())] = self._time

    def commit(self, instruction: Instruction) -> None:
        """They close their group."""
        if self.orders is not None:
            self.orders.product_commit(instruction)
        self._committed += self.of(self.wave.active())

    def wait(self, instruction: Instruction, left: int) -> None:
        """They wait for all of their groups but the last `left`."""
        if self.orders is not None:
            self.orders.product_wait(instruction, left)
        groups = self.of(self.wave.active())
        reached = np.maximum(self._complete, self._committed - left)
        self._complete = np.where(groups, reached, self._complete)
        for (cta, group), reads in self._reads.items():
            if not groups[cta, group]:
                continue
            warps = np.zeros(self.wave.shape[1], np.bool_)
            warps[group * WARPGROUP_WARPS : (group + 1) * WARPGROUP_WARPS] = True
            for number, operation in reads:
                if number <= self._complete[cta, group]:
                    self.in_flight.finish(operation, warps)
            reads[:] = [one for one in reads if one[0] > self._complete[cta, group]]

    # Registers

    def touch(self, instruction: Instruction, read: Sequence[int], written: Sequence[int]) -> None:
        """Another instruction touches registers that products use."""
        groups = self.of(self.wave.active())
        self._time += 1
        for slot in (*read, *written):
            known = self._registers.get(slot)
            if known is not None:
                self._open(instruction, known, groups & (known.group > self._complete))
        for slot in written:
            self._known(slot).touched[groups] = self._time

    def move(self, source: int, target: int) -> None:
        """A register is copied: the copy is as far as the register."""
        groups = self.of(self.wave.active())
        known, copy = self._known(source), self._known(target)
        for mine, other in (
            (copy.group, known.group),
            (copy.touched, known.touched),
            (copy.used, known.used),
        ):
            mine[groups] = other[groups]
        copy.shape, copy.line = known.shape, known.line

    def _open(self, instruction: Instruction, known: _Register, groups: Array) -> None:
        if not groups.any():
            return
        line = self.findings.module.written_line(known.line)
        self._add(
            instruction,
            groups,
            f"accesses a register that the wgmma of line {line} uses, before a wgmma.wait_group "
            "that covers it",
        )

    # Products

    def product(
        self, instruction: Instruction, groups: Array, slots: Sequence[int], shape: str
    ) -> None:
        """Warpgroups, (CTAs, warpgroups), issue a product on registers."""
        unfenced = groups & (self._fenced == 0)
        if unfenced.any():
            self._add(instruction, unfenced, "comes before any wgmma.fence")
        self._time += 1
        for slot in slots:
            known = self._known(slot)
            late = groups & (known.touched > self._fenced) & ~unfenced
            if late.any():
                self._add(
                    instruction,
                    late,
                    "uses registers that other instructions have written since the last "
                    "wgmma.fence",
                )
            elif known.shape not in ("", shape):
                other = groups & (known.used > self._fenced) & (known.group > 0)
                if other.any():
                    self._add(
                        instruction,
                        other,
                        f"uses registers of a product {known.shape}, without a wgmma.fence between",
                    )
            known.group = np.where(groups, self._committed + 1, known.group)
            known.used = np.where(groups, self._time, known.used)
            known.shape, known.line = shape, instruction.position

    def reads(self, instruction: Instruction, cta: int, group: int, granules: Array) -> None:
        """A warpgroup's product reads granules of its CTA's shared memory."""
        threads = [(cta, group * WARPGROUP_WARPS + warp, 0) for warp in range(WARPGROUP_WARPS)]
        if self.orders is not None:
            self.orders.product_read(instruction, cta, group, granules)
        operation = self.in_flight.read(instruction, threads, granules, followed=True)
        number = int(self._committed[cta, group]) + 1
        self._reads.setdefault((cta, group), []).append((number, operation))

    def swizzles(
        self, instruction: Instruction, cta: int, group: int, granules: Array, name: str
    ) -> None:
        """What a product reads by a swizzle must have come by the same, where a copy brought it."""
        found = self.in_flight.swizzled_otherwise(cta, granules, name)
        if found is not None:
            line = self.findings.module.written_line(found.instruction.position)
            groups = np.zeros(self._shape, np.bool_)
            groups[cta, group] = True
            self._add(
                instruction,
                groups,
                f"reads by swizzle {name} what the copy of line {line} wrote by {found.swizzle}",
            )

    def exited(self, threads: Array) -> None:
        """Threads exit: products that no wait covers read shared memory that is gone."""
        groups = self.of(threads)
        for (cta, group), reads in self._reads.items():
            if reads and groups[cta, group]:
                where = np.zeros(self._shape, np.bool_)
                where[cta, group] = True
                self._add(
                    reads[0][1].instruction, where, "is not waited for before its threads exit"
                )
                reads.clear()

    def blame(self, instruction: Instruction, cta: int, group: int, words: str) -> None:
        """Note what a warpgroup did wrong."""
        groups = np.zeros(self._shape, np.bool_)
        groups[cta, group] = True
        self._add(instruction, groups, words)

    def _add(self, instruction: Instruction, groups: Array, words: str) -> None:
        warps = np.repeat(groups, WARPGROUP_WARPS, axis=1)[:, : self.wave.shape[1], None]
        threads = np.broadcast_to(warps, self.wave.shape)
        self.findings.add("wgmma", instruction, threads, lambda _: words)
