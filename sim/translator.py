"""Functions bound to the machine block by block, when threads reach them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from tilec.isa import TilecError

from .binding import Binding
from .blocks import RETURN, Code, End, Where
from .chains import NO_RUNS, chained, runs
from .control import is_gated
from .errors import PtxError
from .frames import Frame
from .instructions import bind
from .instructions.registry import end_binder
from .machine import Machine, Step
from .product_registers import tracked, watched
from .program import Program
from .ptx.module import Function, Instruction
from .taint.unwritten import Unwritten
from .traits import traits

if TYPE_CHECKING:
    from .native.engine import Native


class Translator:
    """Binds the blocks of a program's functions, each once.

    Attributes:
        program: the program.
        unwritten: notes who has written registers that may be read before, if anybody asks.
        translated: called with every block that has been bound, and the instructions of its
            steps, if anybody asks.
        native: has machine code execute what it can, if it is to.
        whole: whether all results are put in registers, for who looks at these.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.unwritten: Unwritten | None = None
        self.translated: Callable[[Code, list[Binding]], None] | None = None
        self.whole = False
        self.native: Native | None = None
        self._bindings: list[Binding] = []
        self._failed: list[PtxError] = []
        self._names: dict[str, frozenset[str]] = {}

    def code(self, frame: Frame, number: int) -> Code:
        """A block, bound when it is first asked for."""
        found = frame.translated[number]
        if found is None:
            self._bindings = []
            found = frame.translated[number] = self._translate(frame, number)
            if self.native is not None:
                self.native.prepare(found, self._bindings)
            if self.translated is not None:
                self.translated(found, self._bindings)
        return found

    def unsupported(self, frame: Frame) -> list[PtxError]:
        """What cannot be bound of a function, in the order of its text."""
        before, self._failed = self._failed, []
        for number in range(len(frame.blocks)):
            self.code(frame, number)
        found, self._failed = self._failed, before
        return found

    def _translate(self, frame: Frame, number: int) -> Code:
        """Bind a block; what is not supported becomes a step that says so."""
        block = frame.blocks[number]
        whole = frame.function.body or []
        body = whole[block.first : block.last]
        following = frame.following(block.last)
        if block.gate:
            end = self._gate(frame, whole[block.first], block.successors[0])
            return self._straight(frame, [], end)
        if not body:
            return self._straight(frame, body, End(following, following))
        last = body[-1]
        try:
            ended = self._end(frame, last, following)
        except PtxError as error:
            code = self._straight(frame, body[:-1], End(RETURN, RETURN))
            code.instructions = body
            code.steps.append(self._raising(error))
            code.syncs.append(None)
            self._bindings.append(Binding(frame, last))
            return code
        if ended is None:
            return self._straight(frame, body, End(following, following))
        code = self._straight(frame, body[:-1], ended)
        code.last = last
        return code

    def _gate(self, frame: Frame, gated: Instruction, inside: int) -> End:
        """The end of an empty block: to an instruction if its guard holds, or past it."""
        slot = _guard(frame, gated)
        past = frame.following(frame.blocks[inside].last)
        return self._noting(frame, End(inside, past, slot, gated.negated, gated))

    def _end(self, frame: Frame, last: Instruction, following: Where) -> End | None:
        """How a block ends with an instruction; None if that goes on to the next."""
        find = end_binder(last)
        where = None if find is None else find(Binding(frame, last))
        if where is None:
            return None
        slot = None if last.guard is None else _guard(frame, last)
        return self._noting(frame, End(where, following, slot, last.negated, last))

    def _noting(self, frame: Frame, end: End) -> End:
        """The end of a block, which notes what it reads."""
        if self.unwritten is None or end.by is None:
            return end
        return self.unwritten.noting_end(Binding(frame, end.by), end)

    def _straight(self, frame: Frame, body: list[Instruction], end: End) -> Code:
        """A block of these instructions."""
        code = Code(body, [], [], end)
        products = sum(traits(instruction).product for instruction in body)
        uses = self.program.placement.uses
        deferring = products > 1 and not self.whole
        deferred = chained(body, uses(frame.function)) if deferring else frozenset()
        machine = self.program.machine
        threaded = runs(body) if deferring and machine.threaded else NO_RUNS
        for index, instruction in enumerate(body):
            binding = Binding(frame, instruction)
            binding.deferred = index in deferred
            binding.queued = index in threaded.queued
            step = self._step(binding)
            code.steps.append(_settling(machine, step) if index in threaded.settled else step)
            code.syncs.append(binding.sync)
            self._bindings.append(binding)
            if binding.sync is not None:
                code.has_syncs = True
                code.has_counted |= code.counted(binding.sync)
        return code

    def _step(self, binding: Binding) -> Step:
        """What an instruction does, or a step that raises why it does nothing."""
        instruction = binding.instruction
        try:
            bound = bind(binding)
            step = self._watched(binding, binding.complete(bound))
            binding.inner = step
            if self.unwritten is not None:
                step = self.unwritten.noting(binding, step)
            binding.plain = step is bound
            if instruction.guard is not None and not is_gated(instruction):
                slot = _guard(binding.frame, instruction)
                guarded = partial(_guarded, self.program.machine, slot, instruction.negated)
                binding.guard = slot, guarded
                step = guarded(step)
                if self.unwritten is not None:
                    held = step
                    step = self.unwritten.noting_guard(binding, held)
                    binding.plain &= step is held
        except PtxError as error:
            return self._raising(error)
        except TilecError as error:
            return self._raising(binding.error(str(error)))
        except (IndexError, KeyError, StopIteration, ValueError):
            # Too few operands or qualifiers for whoever unpacks them.
            return self._raising(binding.error(f"malformed '{instruction.mnemonic}'"))
        return step

    def _watched(self, binding: Binding, step: Step) -> Step:
        """A step that tells which registers of warpgroups' products it touches, if any."""
        observer = self.program.machine.observer
        if observer is None or observer.warpgroups is None:
            return step
        return watched(binding, step, observer.warpgroups, self._tracked(binding.frame.function))

    def _tracked(self, function: Function) -> frozenset[str]:
        found = self._names.get(function.name)
        if found is None:
            found = self._names[function.name] = function.once(tracked)
        return found

    def _raising(self, error: PtxError) -> Step:
        """A step that says why an instruction is not executed."""
        self._failed.append(error)

        def step() -> None:
            raise error

        return step


def _settling(machine: Machine, step: Step) -> Step:
    """A step after which products that others compute have been computed."""

    def run() -> None:
        step()
        machine.settle()

    return run


def _guard(frame: Frame, instruction: Instruction) -> int:
    """The slot of an instruction's guard."""
    assert instruction.guard is not None
    found = frame.register(instruction.guard, instruction.scope)
    if found is None or found[1] != 1:
        raise frame.error(f"'{instruction.guard}' is not a predicate", instruction)
    return found[0]


def _guarded(machine: Machine, slot: int, negated: bool, step: Step) -> Step:
    registers = machine.registers

    def run() -> None:
        predicate = registers[slot]
        if predicate.size == 1:
            if bool(predicate[0, 0, 0]) != negated:
                step()
            return
        mask, merge = machine.mask, machine.merge
        chosen = ~predicate if negated else predicate
        if mask is not None:
            chosen = chosen & mask
        if chosen.any():
            machine.mask = machine.merge = chosen
            step()
            machine.mask, machine.merge = mask, merge

    return run
