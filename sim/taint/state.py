"""What is undefined in a wave, from the first time that any of it is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from ..access import Access
from ..alu import Array
from ..findings import Findings
from ..memory import Space
from ..ptx.module import Instruction
from ..registers import Registers
from ..traits import Flow, traits
from .marks import UNWRITTEN, Marks, combined, either, ones, resolved, some_bit
from .shadow_memory import ShadowMemory, is_followed


class Taint:
    """The undefined registers and bytes of a wave.

    Attributes:
        active: whether anything undefined has been read in this wave.
        registers: what is undefined, by slot; a slot that is not there is defined.
        memory: the same of memory.
        replaying: whether an instruction is executed on what is undefined of its operands.
        written: of registers that may be read before they are written, the threads that have
            written them; None for all.
        shuffled: origins that are shuffles.
        started: called when something undefined is read for the first time, by an instruction.
        ended: called at the end of a wave in which that has happened.
        unwritten_shared: tells which bytes of shared memory nothing has written, (CTAs, bytes);
            one CTA may stand for all.
        unwritten_local: tells of which of some places in local memory that is so.
        touched: the accesses to shared and local memory of the instruction that is replayed.
        harmed: the threads of which it stores something undefined to global memory.
    """

    def __init__(self, wave: Registers, findings: Findings) -> None:
        self.wave = wave
        self.active = False
        self.registers: dict[int, Marks] = {}
        self.written: dict[int, Array | None] = {}
        self.memory = ShadowMemory(wave.memory)
        self.started: Callable[[Instruction | None], None] = _nobody
        self.ended: Callable[[], None] = _nothing
        self.restart(findings)

    def restart(self, findings: Findings) -> None:
        """Begin a launch: nothing is undefined but what `suspect` has been told of."""
        self.begin()
        self.findings = findings
        self.replaying = False
        self.shuffled: set[int] = set()
        self.touched: list[tuple[Space, Array, int, Array, Access]] = []
        self.harmed: list[Array] = []
        self.unwritten_shared: Callable[[], Array] = _no_bytes
        self.unwritten_local: Callable[[Array], Array] = np.zeros_like

    def begin(self) -> None:
        """Begin a wave."""
        if self.active:
            self.ended()
            self.memory.end()
        self.active = False
        self.registers.clear()
        for slot in self.written:
            self.written[slot] = np.zeros((1, 1, 1), np.bool_)

    def start(self, instruction: Instruction | None) -> None:
        """Something that nothing has written is read: follow it from here on.

        Args:
            instruction: what reads it, in the middle of its step; None if no step is executed.
        """
        if self.active:
            return
        self.active = True
        self.memory.begin()
        memory = self.wave.memory
        blank = self.unwritten_shared()  # (CTAs or 1, bytes)
        end = memory.shared_base + memory.shared_stride * self.wave.shape[0]
        shared = slice(memory.shared_base, end)
        self.memory.data[shared].reshape(-1, memory.shared_stride)[...] = np.where(blank, 0xFF, 0)
        self.memory.origin[shared].reshape(-1, memory.shared_stride)[...] = np.where(
            blank, UNWRITTEN, 0
        )
        for slot, known in self.written.items():
            if known is not None:
                self._doubt(slot, known)
        self.started(instruction)

    # Registers that may be read before they are written

    def suspect(self, slot: int) -> None:
        """A register may be read before it is written: note who has."""
        if slot in self.written:
            return
        nobody = self.written[slot] = np.zeros((1, 1, 1), np.bool_)
        if self.active:  # whatever names it has just been reached for the first time
            self._doubt(slot, nobody)

    def _doubt(self, slot: int, known: Array) -> None:
        """A register is undefined in the threads that have not written it."""
        value = self.wave.registers[slot]
        bits = np.where(known, value.dtype.type(0), ones(value))
        self.registers[slot] = Marks(bits, np.full((1, 1, 1), UNWRITTEN, np.int32))

    def unwritten(self, slots: Iterable[int]) -> bool:
        """Whether any active thread has not written one of such registers."""
        mask = self.wave.mask
        for slot in slots:
            known = self.written[slot]
            if known is not None and not (known if mask is None else known | ~mask).all():
                return True
        return False

    def writes(self, slots: Iterable[int]) -> None:
        """The active threads have written such registers."""
        merge = self.wave.merge
        for slot in slots:
            known = self.written[slot]
            if known is not None:
                known = None if merge is None else known | merge
                self.written[slot] = None if known is None or known.all() else known

    # Registers

    def of(self, instruction: Instruction, slots: Iterable[int]) -> list[Marks]:
        """What is undefined of some registers that an instruction reads."""
        found = (self.registers.get(slot) for slot in slots)
        return [Marks(m.bits, resolved(m.origin, instruction)) for m in found if m is not None]

    def any(self, slots: Iterable[int]) -> bool:
        """Whether any of some registers is undefined, of any thread."""
        return any(slot in self.registers for slot in slots)

    def write(self, slot: int, bits: Array, origin: Array) -> None:
        """The active threads have a new value of a register, some of its bits undefined."""
        known, merge = self.registers.get(slot), self.wave.merge
        if merge is not None:
            if known is None:
                bits = np.where(merge, bits, bits.dtype.type(0))
            else:
                bits = np.where(merge, bits, known.bits)
                origin = np.where(merge, origin, known.origin)
        if some_bit(bits).any():
            self.registers[slot] = Marks(bits, origin)
        elif known is not None:
            del self.registers[slot]

    def write_whole(self, slots: Iterable[int], threads: Array, origin: Array) -> None:
        """The active threads have new values of registers, undefined in some of the threads."""
        for slot in slots:
            like = self.wave.registers[slot]
            zero = like.dtype.type(0)
            self.write(slot, np.where(threads, ones(like), zero).astype(like.dtype), origin)

    def write_some(self, slots: Iterable[int], threads: Array, origin: Array) -> None:
        """Registers become undefined in some threads, and stay as they are in the others."""
        for slot in slots:
            like = self.wave.registers[slot]
            known = self.registers.get(slot)
            bits = np.where(threads, ones(like), like.dtype.type(0))
            if known is not None:
                bits = either(bits, known.bits)
                origin = np.where(threads, origin, known.origin)
            self.write(slot, bits, origin)

    def define(self, slots: Iterable[int]) -> None:
        """The active threads have new values of registers, which are defined."""
        for slot in slots:
            if slot in self.registers:
                bits = np.zeros((1, 1, 1), self.wave.registers[slot].dtype)
                self.write(slot, bits, np.zeros((1, 1, 1), np.int32))

    # Memory

    def touch(
        self,
        instruction: Instruction,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
    ) -> None:
        """An access without a flow: what copies, mbarriers and the driver's functions write."""
        defines = kind in (Access.ASYNC_WRITE, Access.BARRIER)
        defines |= kind is Access.WRITE and traits(instruction).flow is Flow.CALL
        if defines and is_followed(space):
            legal = self.memory.legal(space, offsets, size, mask)
            self.memory.set(space, offsets, size, legal, 0)

    def overwrite(self, places: Array) -> None:
        """Bytes of memory are written with what is defined."""
        if self.active:
            self.memory.data[places] = 0

    def replayed(
        self,
        space: Space,
        offsets: Array,
        size: int,
        mask: Array | None,
        kind: Access,
        values: Sequence[Array] | None,
    ) -> Array:
        """An access of an instruction that is executed on shadows; the threads that may do it."""
        if not is_followed(space):
            if kind.writes and values is not None:
                bytes_ = (np.ascontiguousarray(v)[..., None].view(np.uint8) for v in values)
                harmed = np.logical_or.reduce([(b != 0).any(axis=-1) for b in bytes_])
                self.harmed.append(harmed if mask is None else harmed & mask)
            return np.zeros((1, 1, 1), np.bool_)
        legal = self.memory.legal(space, offsets, size, mask)
        if space.name == "local" and kind.reads:
            self._find_unwritten(space, offsets, size, legal)
        self.touched.append((space, offsets, size, legal, kind))
        return legal

    def _find_unwritten(self, space: Space, offsets: Array, size: int, legal: Array) -> None:
        """Local memory that nothing has written becomes undefined when it is first read."""
        for places in self.memory.runs(space, offsets, size, legal):
            blank = places[self.unwritten_local(places)]
            self.memory.data[blank], self.memory.origin[blank] = 0xFF, UNWRITTEN

    def dirty(self, places: Array) -> int:
        """An origin of bytes at places in memory of which any bit is undefined; 0 if none is."""
        if not self.active:
            return 0
        found = np.where(self.memory.data[places] != 0, self.memory.origin[places], 0)
        return int(found.max())

    # Harm

    def harm(self, instruction: Instruction, threads: Array, origin: Array, words: str) -> None:
        """What is undefined does harm.

        Args:
            instruction: where.
            threads: in which threads, if they are active.
            origin: where it was read, of each of them.
            words: what they do with it; the place of its reading follows.
        """
        wave = self.wave
        found = wave.full(threads) & wave.active()
        if not found.any():
            return
        origins = wave.full(resolved(origin, instruction))
        module = self.findings.module

        def say(at: tuple[int, ...]) -> str:
            position = max(int(origins[at]) - 1, 0)
            where = module.written_line(position)
            if position == instruction.position:
                return f"{words} what nothing has written"
            if position + 1 in self.shuffled:
                return f"{words} what line {where} read from a lane that did not participate"
            return f"{words} what line {where} read, which nothing has written"

        self.findings.add("uninitialised", instruction, found, say)

    def harm_by(self, instruction: Instruction, slots: Iterable[int], words: str) -> bool:
        """Registers do harm in the active threads, if they are undefined; whether any is."""
        marks = self.of(instruction, slots)
        if not marks:
            return False
        threads, origin = combined(marks)
        self.harm(instruction, threads, origin, words)
        return True


def _nobody(instruction: Instruction | None) -> None:
    del instruction


def _nothing() -> None:
    """Nobody has to be told."""


def _no_bytes() -> Array:
    return np.zeros((1, 1), np.bool_)
