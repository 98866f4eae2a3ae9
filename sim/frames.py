"""A function in a call: its names bound to slots and addresses, its blocks to steps.

Every path of calls has a frame of its own, made when it is first taken, so that a function
called from two places, or by itself, keeps its registers apart. All threads share the frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from . import control
from .errors import UnsupportedInstructionError
from .machine import ZEROS
from .memory import FUNCTION_BASE, GLOBAL_BASE
from .ptx.module import Function, Instruction, Name, Scope, Variable
from .ptx.module import Group as Arguments
from .sync import BarrierSync, Members

if TYPE_CHECKING:
    from .alu import Array
    from .groups import Group
    from .machine import Step
    from .program import Program


MAX_DEPTH = 512
"""Calls that may be nested."""


class Return:
    """Leave the function."""


class Exit:
    """End the thread."""


RETURN, EXIT = Return(), Exit()


@dataclass(slots=True)
class Call:
    """Call a function: one that is named, or one by thread.

    Attributes:
        frame: the caller.
        instruction: the call.
        name: the callee, or empty.
        slot: register with the callee's address, or None.
    """

    frame: Frame
    instruction: Instruction
    name: str
    slot: int | None

    def targets(self, group: Group) -> Iterator[tuple[Array | None, Frame]]:
        """Frames of the callees, with the threads of each; None if they are all."""
        program = self.frame.program
        if self.slot is None:
            yield None, self.frame.callee(group.block, self.instruction, self.name)
            return
        machine = program.machine
        addresses = machine.full(machine.registers[self.slot])
        mask = machine.active()
        for address in np.unique(addresses[mask]).tolist():
            name = program.function_at(address)
            if name is None:
                raise program.module.source.error(
                    f"call of {address:#x}, which is no function", self.instruction.position
                )
            frame = self.frame.callee(group.block, self.instruction, name)
            yield mask & (addresses == address), frame


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
    """

    where: Where
    otherwise: Where
    slot: int | None = None
    negated: bool = False

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


@dataclass(slots=True)
class Code:
    """A block, bound.

    Attributes:
        frame: where its names are bound.
        instructions: its instructions, the branch at its end excluded.
        steps: what they do, one each.
        syncs: what each has to wait for, or None.
        end: how it ends.
        last: the instruction that ends it, or None where it runs into the next block.
        entries: by index, how many warps and threads began there less how many left.
    """

    frame: Frame
    instructions: Sequence[Instruction]
    steps: list[Step]
    syncs: list[Members | BarrierSync | None]
    end: End
    last: Instruction | None = None
    has_syncs: bool = False
    has_counted: bool = False
    entries: dict[int, list[int]] = field(default_factory=dict)

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

    def counted(self, sync: Members | BarrierSync) -> bool:
        """Whether an instruction may have to wait even when all threads come together."""
        return isinstance(sync, BarrierSync) and not sync.plain

    def place(self, index: int) -> str:
        """Where an instruction of the block stands."""
        return self.frame.program.place(self.instructions[min(index, len(self.instructions) - 1)])


class Frame:
    """A function in a call.

    Attributes:
        program: the launch.
        function: the function.
        parent: the caller's frame, or None.
        after: block of the caller that follows the call.
        prefix: its place in the order of groups.
    """

    def __init__(
        self,
        program: Program,
        function: Function,
        parent: Frame | None = None,
        after: int = 0,
        prefix: tuple[int, ...] = (),
        arguments: dict[str, tuple[str, int]] | None = None,
    ) -> None:
        self.program = program
        self.function = function
        self.parent = parent
        self.after = after
        self.prefix = prefix
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.blocks = control.blocks(function)
        self._codes: list[Code | None] = [None] * len(self.blocks)
        self._at = control.places(self.blocks)
        self._slots: dict[tuple[int, str], tuple[int, int, str]] = {}
        self._addresses: dict[tuple[int, str], tuple[str, int]] = {}
        self._parameters = arguments or {}
        self._callees: dict[tuple[int, str], Frame] = {}
        self.carry = program.machine.slot(ZEROS[1])

    # Names

    def register(self, name: str, scope: Scope) -> tuple[int, int, str] | None:
        """Slot, bits and type of a register; None if no such register is declared."""
        key = (id(scope), name)
        found = self._slots.get(key)
        if found is not None:
            return found
        declared = scope.register(name)
        if declared is None:
            return None
        home, range_ = declared
        owner = (id(home), name)
        found = self._slots.get(owner)
        if found is None:
            found = self.program.register(range_)
            self._slots[owner] = found
        self._slots[key] = found
        return found

    def address(self, name: str, scope: Scope) -> tuple[str, int] | None:
        """State space and address of a variable; None if there is none of that name."""
        declared = scope.variable(name)
        if declared is not None:
            home, variable = declared
            key = (id(home), name)
            if key not in self._addresses:
                self._addresses[key] = self._allocate(variable)
            return self._addresses[key]
        return self._parameters.get(name) or self.program.address(name)

    def _allocate(self, variable: Variable) -> tuple[str, int]:
        if variable.space in ("local", "param"):
            memory = self.program.machine.memory
            return "local", memory.allocate_local(variable.size, variable.align)
        return self.program.variable(variable)

    def label(self, name: str, instruction: Instruction) -> Where:
        """The block that a label stands before; past the last instruction it returns."""
        place = instruction.scope.label(name)
        if place is None:
            raise self.error(f"unknown label '{name}'", instruction)
        return self.following(place)

    def following(self, place: int) -> Where:
        """The block that begins at an instruction; past the last one the function returns."""
        return self._at.get(place, RETURN)

    def error(self, reason: str, instruction: Instruction) -> UnsupportedInstructionError:
        """An error at an instruction."""
        error = self.program.module.source.error(
            reason, instruction.position, UnsupportedInstructionError
        )
        assert isinstance(error, UnsupportedInstructionError)
        return error

    def place(self, block: int, index: int) -> str:
        """Where an instruction of a block stands."""
        body = self.function.body or []
        at = min(self.blocks[block].first + index, len(body) - 1)
        return self.program.place(body[at]) if body else self.function.name

    # Calls

    def callee(self, block: int, instruction: Instruction, name: str) -> Frame:
        """The frame of a function called from the end of a block."""
        key = (block, name)
        frame = self._callees.get(key)
        if frame is None:
            if self.depth >= MAX_DEPTH:
                raise self.error(f"calls nested more than {MAX_DEPTH} deep", instruction)
            function = self.program.function(name)
            if function is None or function.body is None:
                raise self.error(f"call of '{name}', which has no body", instruction)
            frame = Frame(
                self.program,
                function,
                self,
                self._after(instruction),
                (*self.prefix, block, self.blocks[block].last, len(self._callees)),
                self._pass(function, instruction),
            )
            self._callees[key] = frame
        return frame

    def _after(self, instruction: Instruction) -> int:
        body = self.function.body or []
        place = next(i for i, other in enumerate(body) if other is instruction) + 1
        after = self._at.get(place)
        if after is None:
            raise self.error("a call stands at the end of a function", instruction)
        return after

    def _pass(self, function: Function, instruction: Instruction) -> dict[str, tuple[str, int]]:
        """Formal parameters at the addresses of the actual ones."""
        lists = [o.items for o in instruction.operands if isinstance(o, Arguments)]
        named = next(i for i, o in enumerate(instruction.operands) if not isinstance(o, Arguments))
        returns = lists.pop(0) if named == 1 else ()
        actual = [*returns, *(lists[0] if lists else ())]
        formal = [*function.returns, *function.parameters]
        if len(actual) != len(formal):
            raise self.error(
                f"'{function.name}' takes {len(formal)} parameters, not {len(actual)}", instruction
            )
        found = {}
        for parameter, operand in zip(formal, actual, strict=True):
            address = (
                self.address(operand.text, instruction.scope) if isinstance(operand, Name) else None
            )
            if address is None:
                raise self.error("an argument of a call is a .param variable", instruction)
            found[parameter.name] = address
        return found

    # Code

    def code(self, number: int) -> Code:
        """A block, bound when it is first reached."""
        found = self._codes[number]
        if found is None:
            found = self._codes[number] = self.program.bind(self, number)
        return found

    def codes(self) -> Iterator[Code]:
        """Every block bound so far, of this frame and of those called from it."""
        yield from (code for code in self._codes if code is not None)
        for frame in self._callees.values():
            yield from frame.codes()


from .machine import Machine  # noqa: E402 - for the annotations above

__all__ = ["EXIT", "FUNCTION_BASE", "GLOBAL_BASE", "RETURN", "Call", "Code", "End", "Frame"]
