"""Blocks bound to the machine: what they do and where they lead."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from .alu import Array
from .machine import Machine, Step
from .ptx.module import Instruction
from .sync import Gate, Members, Waits


class Return:
    """Leave the function."""


class Exit:
    """End the thread."""


RETURN, EXIT = Return(), Exit()


@dataclass(slots=True)
class Call:
    """Call a function: one that is named, or one by thread.

    Attributes:
        instruction: the call.
        name: the callee, or empty.
        slot: register with the callee's address, or None.
    """

    instruction: Instruction
    name: str
    slot: int | None


@dataclass(slots=True)
class Indexed:
    """Branch to one of a list of blocks, by a register."""

    slot: int
    blocks: tuple[int, ...]

    def targets(self, machine: Machine) -> Iterator[tuple[Array, int]]:
        """Blocks, with the threads that go to each."""
        index = machine.full(machine.registers[self.slot])
        active = machine.active()
        last = len(self.blocks) - 1
        for number in np.unique(index[active]).tolist():
            yield active & (index == number), self.blocks[min(number, last)]


Where = int | Exit | Return | Call | Indexed
"""Where threads go at the end of a block; a number is a block of the same frame."""


@dataclass(slots=True)
class End:
    """How a block ends.

    Attributes:
        where: where the threads go whose predicate holds, or all.
        otherwise: the block the others go to.
        slot: the predicate, or None.
        negated: whether it must be false.
        by: the instruction that decides, or None.
    """

    where: Where
    otherwise: Where
    slot: int | None = None
    negated: bool = False
    by: Instruction | None = None

    @property
    def read(self) -> tuple[int, ...]:
        """Slots of the registers that decide where threads go."""
        led = self.where.slot if isinstance(self.where, Call | Indexed) else None
        return tuple(slot for slot in (self.slot, led) if slot is not None)

    def next(self, machine: Machine) -> Where | list[tuple[Array | None, Where]]:
        """Where the active threads go; a list if they part."""
        if self.slot is None:
            return self.where
        predicate = machine.registers[self.slot]
        if predicate.size == 1:
            return self.where if bool(predicate[0, 0, 0]) != self.negated else self.otherwise
        taken = ~predicate if self.negated else predicate
        if machine.mask is None:
            count = np.count_nonzero(taken)
            if count == taken.size:
                return self.where
            if count == 0:
                return self.otherwise
            taken = machine.full(taken)
            return [(taken, self.where), (~taken, self.otherwise)]
        taken = machine.mask & taken
        count = np.count_nonzero(taken)
        if count == 0:
            return self.otherwise
        rest = machine.mask & ~taken
        if not rest.any():
            return self.where
        return [(taken, self.where), (rest, self.otherwise)]


class MachineCode(Protocol):
    """What a block consists of for machine code."""

    def of(self, code: Code) -> bool:
        """Whether the block still does that."""


@dataclass(slots=True)
class Code:
    """A block, bound.

    Attributes:
        instructions: its instructions, the branch at its end excluded.
        steps: what they do, one each.
        syncs: what each has to wait for, or None.
        end: how it ends.
        last: the instruction that ends it, or None where it runs into the next block.
        entries: by index, how many warps and threads began there less how many left.
        native: what it consists of, where machine code executes all of it.
    """

    instructions: Sequence[Instruction]
    steps: list[Step]
    syncs: list[Waits | None]
    end: End
    last: Instruction | None = None
    has_syncs: bool = False
    has_counted: bool = False
    entries: dict[int, list[int]] = field(default_factory=dict)
    native: MachineCode | None = None

    def count(self, index: int, warps: int, threads: int) -> None:
        """Note that threads start at an index, or, if negative, leave there."""
        entry = self.entries.get(index)
        if entry is None:
            self.entries[index] = [warps, threads]
        else:
            entry[0] += warps
            entry[1] += threads

    def counted_instructions(self) -> Iterator[Instruction]:
        """The instructions that `entries` counts: the branch at the end is one of them."""
        yield from self.instructions
        if self.last is not None:
            yield self.last

    def counted(self, sync: Waits) -> bool:
        """Whether an instruction may have to wait even when all threads come together."""
        if isinstance(sync, Members):
            return False
        return isinstance(sync, Gate) or not sync.plain
