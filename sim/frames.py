"""A function in a call: its names bound to slots and addresses.

Every path of calls has a frame of its own, made when it is first taken, so that a function
called from two places, or by itself, keeps its registers apart. All threads share the frame.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from . import control
from .alu import Array
from .blocks import RETURN, Call, Code, Where
from .errors import UnsupportedInstructionError
from .program import Program
from .ptx.module import Arguments, Function, Instruction, Name, Scope, Variable
from .registers import ZEROS
from .traits import generation

MAX_DEPTH = 512
"""Calls that may be nested."""


class Frame:
    """A function in a call.

    Attributes:
        program: the launch.
        function: the function.
        parent: the caller's frame, or None.
        after: block of the caller that follows the call.
        prefix: its place in the order of groups.
        translated: its blocks that have been bound, by number.
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
        self.blocks = function.once(control.blocks, generation())
        self.translated: list[Code | None] = [None] * len(self.blocks)
        self._at = control.block_starts(self.blocks)
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
        return self._parameters.get(name) or self.program.placement.address(name)

    def _allocate(self, variable: Variable) -> tuple[str, int]:
        if variable.space in ("local", "param"):
            memory = self.program.machine.memory
            return "local", memory.allocate_local(variable.size, variable.align)
        return self.program.placement.variable(variable)

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
        return self.program.module.place(body[at]) if body else self.function.name

    # Calls

    def callees(self, call: Call, block: int) -> Iterator[tuple[Array | None, Frame]]:
        """Frames of what a block calls at its end, with the threads of each; None for all."""
        program = self.program
        if call.slot is None:
            yield None, self.callee(block, call.instruction, call.name)
            return
        machine = program.machine
        addresses = machine.full(machine.registers[call.slot])
        mask = machine.active()
        for address in np.unique(addresses[mask]).tolist():
            name = program.placement.function_at(address)
            if name is None:
                raise program.module.source.error(
                    f"call of {address:#x}, which is not a function", call.instruction.position
                )
            yield mask & (addresses == address), self.callee(block, call.instruction, name)

    def callee(self, block: int, instruction: Instruction, name: str) -> Frame:
        """The frame of a function called from the end of a block."""
        key = (block, name)
        frame = self._callees.get(key)
        if frame is None:
            if self.depth >= MAX_DEPTH:
                raise self.error(f"calls nested more than {MAX_DEPTH} deep", instruction)
            function = self.program.placement.function(name)
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
            raise self.error("a call is the last instruction of a function", instruction)
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

    def codes(self) -> Iterator[Code]:
        """Every block bound so far, of this frame and of those called from it."""
        yield from (code for code in self.translated if code is not None)
        for frame in self._callees.values():
            yield from frame.codes()
