"""What can be seen while a launch is stopped, and how it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES, nearest
from tilec.isa.wording import counted

from .. import special
from ..alu import Array
from ..errors import LaunchError
from ..groups import Group
from ..memory import GLOBAL_BASE
from ..ptx.module import Instruction, Module
from ..warps import warp_numbers
from . import descriptors, fragments, shared
from .running import Breakpoints, Running


class QuitDebugging(Exception):  # noqa: N818 (nothing is wrong)
    """Ends a launch at a stop, by `Stop.quit`."""


class Until(Enum):
    """How far a launch goes on."""

    BREAKPOINT = auto()
    INSTRUCTION = auto()
    LINE = auto()
    NEXT_LINE = auto()
    RETURN = auto()


@dataclass(frozen=True, slots=True)
class Thread:
    """The thread that is looked at.

    Attributes:
        cta: number of its CTA, in the order in which CTAs run.
        warp: of the CTA.
        lane: of the warp.
    """

    cta: int
    warp: int
    lane: int


class Stop:
    """A launch that has stopped before an instruction.

    Values are those before it. Where a method takes an address it is an integer or the name of a
    register, or of a variable, whose value the thread that is looked at has.

    Attributes:
        reason: why it stopped, as `breakpoint 1`.
        instruction: the instruction that comes next.
        thread: the thread that is looked at.
        debugger: sets and deletes breakpoints.
        until: how far it goes on.
    """

    def __init__(
        self,
        debugger: Breakpoints,
        scheduler: Running,
        module: Module,
        group: Group,
        index: int,
        instruction: Instruction,
        reason: str,
        thread: Thread,
    ) -> None:
        self.debugger = debugger
        self.instruction = instruction
        self.reason = reason
        self.thread = thread
        self.until = Until.BREAKPOINT
        self._scheduler = scheduler
        self._machine = scheduler.machine
        self._module = module
        self._group = group
        self._index = index

    # Where it is

    @property
    def module(self) -> Module:
        """The PTX."""
        return self._module

    @property
    def line(self) -> int:
        """The line of the PTX."""
        return self._module.line(self.instruction)

    @property
    def origin(self) -> str:
        """The file and line that it was compiled from; empty if `.loc` names nothing."""
        return self._module.origin(self.instruction)

    @property
    def place(self) -> str:
        """Both."""
        return self._module.place(self.instruction)

    @property
    def who(self) -> str:
        """The thread in words, such as `CTA (0, 0, 0) warp 1 lane 3, thread (35, 0, 0)`."""
        cta, warp, lane = self._at
        name = self._machine.thread_name((cta, warp, lane)).partition(" of ")[0]
        return f"{self._machine.cta_name(cta)} warp {warp} lane {lane}, {name}"

    @property
    def active(self) -> Array:
        """Lanes of the warp that come to the instruction, (32,) of bool."""
        cta, warp, _ = self._at
        mask = self._group.mask
        if mask is None:
            mask = np.ones((1, 1, 1), np.bool_)
        found: Array = self._machine.full(mask)[cta, warp]
        return found

    def listing(self, around: int = 4, line: int | None = None) -> list[tuple[int, str]]:
        """Lines of the PTX around one, with their numbers."""
        here, text = line or self.line, self._module.source.original.splitlines()
        first = max(here - around, 1)
        return list(enumerate(text[first - 1 : here + around], first))

    def frames(self) -> list[str]:
        """The calls that the thread is in, the innermost first, and where each stands."""
        frame = self._group.frame
        words = [f"{frame.function.name} at {self.place}"]
        while frame.parent is not None:
            outer = frame.parent
            words.append(f"{outer.function.name}, goes on at {outer.place(frame.after, 0)}")
            frame = outer
        return words

    def standing(self) -> list[str]:
        """Where the threads of the wave are: how many, of which warps, before what, and why."""
        queues = self._scheduler.queues
        words = [self._standing(self._group, "here")]
        words += [self._standing(one, "can go on") for one in queues.groups.values()]
        words += [self._standing(one, "waits for its warp") for one in queues.parked.values()]
        words += [self._standing(one, "waits") for one in queues.resting.values()]
        words += [self._standing(one, "at a barrier") for one in queues.barriers.groups()]
        live = self._machine.live
        if live is not None and not live.all():
            geometry = self._machine.geometry
            gone = geometry.threads * live.shape[0] - int(np.count_nonzero(live))
            if gone:
                words.append(f"{counted(gone, 'thread')}: exited")
        return words

    def _standing(self, group: Group, state: str) -> str:
        mask = group.mask
        if mask is None:
            mask = np.ones((1, 1, 1), np.bool_)
        whole = self._machine.full(mask)
        if self._machine.live is not None:
            whole = whole & self._machine.live
        ctas = np.flatnonzero(whole.any(axis=(1, 2)))
        warps = np.flatnonzero(whole.any(axis=(0, 2))).tolist()
        first = self._machine.cta_name(int(ctas[0]))
        where = first if len(ctas) == 1 else f"{len(ctas)} CTAs from {first}"
        threads = counted(int(whole.sum()), "thread")
        place = group.frame.place(group.block, self._index if group is self._group else group.index)
        return f"{threads}, {warp_numbers(warps)} of {where}: {state}, {place}"

    def waits(self) -> list[str]:
        """Who waits for what: barriers of CTAs, mbarriers, gates, lanes of warps."""
        return self._scheduler.waits()

    @property
    def _at(self) -> tuple[int, int, int]:
        thread = self.thread
        return thread.cta - self._machine.first_cta, thread.warp, thread.lane

    # Values

    def register(self, name: str) -> Array:
        """What a register, or a special one, has in the lanes of the warp, (32,).

        Floats of registers of f32 and f64, else integers, or bools of predicates.

        Raises:
            LaunchError: if there is no such register here; names the nearest.
        """
        cta, warp, _ = self._at
        found: Array = self._machine.full(self._value(name))[cta, warp]
        type_ = self.type_of(name)
        return shared.values(found, type_) if type_ in ("f32", "f64") else found

    def type_of(self, name: str) -> str:
        """The type of a register, as declared."""
        declared = self._group.frame.register(name, self.instruction.scope)
        return f"u{special.bits(name)}" if declared is None else declared[2]

    def _value(self, name: str) -> Array:
        found = self._group.frame.register(name, self.instruction.scope)
        if found is not None:
            return self._machine.registers[found[0]]
        base, _, component = name.partition(".")
        if special.is_special(base, component) and not special.is_clock(base):
            return special.value(self._machine, name)
        hint = ", ".join(nearest(name, self.registers())[:3])
        raise LaunchError(f"no register '{name}' here{f'; nearest: {hint}' if hint else ''}")

    def registers(self) -> list[str]:
        """The names of the registers that are declared here."""
        names = []
        for scope in self.instruction.scope.chain():
            for name, range_ in scope.registers.items():
                if range_.count is None:
                    names.append(name)
                else:
                    names += [f"{name}{number}" for number in range(range_.count)]
        return names

    def operands(self, line: int | None = None) -> dict[str, str]:
        """The fragments of the matrix instruction here, or of one line, by name, in words."""
        return fragments.described(self._matrix(line))

    def fragment(self, name: str, line: int | None = None) -> NDArray[Any]:
        """A fragment of the warp, or its warpgroup, as a matrix of values.

        Args:
            name: of the operand, as `a`, `b`, `c`, `d`.
            line: of the matrix instruction in the PTX; else the one that comes next.

        Returns:
            By the form's layout: (rows, cols); of `ldmatrix` and `stmatrix` (matrices, rows, cols).
            Operands of `wgmma` in shared memory by their descriptors, swizzles undone: A (m, k), of
            which a sparse one has half, and B (k, n).

        Raises:
            LaunchError: if it is no matrix instruction, or no thread holds the operand.
        """
        instruction = self._matrix(line)
        descriptor = descriptors.register_of(instruction, name)
        if descriptor is not None:
            word = int(self.register(descriptor)[self.thread.lane])
            return descriptors.matrix(instruction, name, word, self._shared())
        registers = fragments.registers_of(instruction, name)
        cta, warp, _ = self._at
        values = [self._machine.full(self._value(one))[cta] for one in registers]
        return fragments.matrix(instruction, name, values, warp)

    def _matrix(self, line: int | None) -> Instruction:
        if line is None:
            return self.instruction
        for instruction in self._group.frame.function.body or ():
            if self._module.line(instruction) == line:
                return instruction
        raise LaunchError(f"line {line} is not an instruction of {self._group.frame.function.name}")

    def shared(
        self, address: int | str, shape: tuple[int, int], type_: str, swizzle: str = "none"
    ) -> NDArray[Any]:
        """A matrix in the CTA's shared memory.

        Args:
            address: where it begins.
            shape: rows and columns; rows follow each other.
            type_: of an element, as `f16`.
            swizzle: what moves its 16-byte chunks: `none`, `32B`, `64B`, `128B` or
                `swizzle<B,M,S>`, of addresses.

        Raises:
            LaunchError: if it is not in shared memory.
        """
        window = self._machine.memory.spaces["shared"].window
        begin = self.address(address)
        begin -= window if begin >= window and window else 0
        return shared.matrix(self._shared(), begin, shape, type_, swizzle)

    def _shared(self) -> NDArray[np.uint8]:
        """The CTA's shared memory."""
        memory, (cta, _, _) = self._machine.memory, self._at
        first = memory.shared_base + cta * memory.shared_stride
        return memory.data[first : first + memory.shared_bytes]

    def memory(self, address: int | str, count: int, type_: str) -> NDArray[Any]:
        """Elements of global memory that follow each other, (count,).

        Raises:
            LaunchError: if they are in no allocation.
        """
        begin = self.address(address) - GLOBAL_BASE
        memory = self._machine.memory
        allocation = memory.allocation(begin) if begin >= 0 else None
        bytes_ = shared.bytes_of(count, type_)
        if allocation is None or begin + bytes_ > allocation.end:
            there = "" if allocation is None else f"; {allocation.name} ends before"
            raise LaunchError(
                f"{begin + GLOBAL_BASE:#x}: no {counted(bytes_, 'byte')} of global memory{there}"
            )
        return shared.values(memory.data[begin : begin + bytes_], type_)

    def address(self, what: int | str) -> int:
        """An address: an integer, a register of the thread, or a variable."""
        if isinstance(what, int):
            return what
        variable = self._group.frame.address(what, self.instruction.scope)
        if variable is not None:
            return variable[1]
        return int(self.register(what)[self.thread.lane])

    # Going on

    def focus(self, cta: Sequence[int] | None = None, thread: int | None = None) -> None:
        """Look at another thread of those in flight.

        Args:
            cta: the place of its CTA in the grid; else the same.
            thread: its number in the CTA, x first; else the same.

        Raises:
            LaunchError: if it is not in flight.
        """
        machine, geometry = self._machine, self._machine.geometry
        number = self.thread.cta
        if cta is not None:
            x, y, z = (*cta, 0, 0)[:3]
            if not all(0 <= at < of for at, of in zip((x, y, z), geometry.grid, strict=True)):
                raise LaunchError(f"CTA {(x, y, z)} is not in the grid {geometry.grid}")
            here = np.flatnonzero(machine.numbers == geometry.number((x, y, z)))
            if not here.size:
                raise LaunchError(f"CTA {(x, y, z)} is not in flight")
            number = machine.first_cta + int(here[0])
        if thread is None:
            thread = self.thread.warp * LANES + self.thread.lane
        if not 0 <= thread < geometry.threads:
            raise LaunchError(f"thread {thread}; a CTA has {geometry.threads}")
        self.thread = Thread(number, *divmod(thread, LANES))

    def step(self) -> None:
        """Go on to the thread's next instruction."""
        self.until = Until.INSTRUCTION

    def step_line(self) -> None:
        """Go on until the thread comes to another line of what `.loc` names, else of the PTX."""
        self.until = Until.LINE

    def next_line(self) -> None:
        """The same, and pass over calls."""
        self.until = Until.NEXT_LINE

    def finish(self) -> None:
        """Go on until the thread has left the function."""
        self.until = Until.RETURN

    def go_on(self) -> None:
        """Go on to the next breakpoint or finding."""
        self.until = Until.BREAKPOINT

    def quit(self) -> None:
        """End the launch.

        Raises:
            QuitDebugging: always; it leaves `launch`.
        """
        raise QuitDebugging
