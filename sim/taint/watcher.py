"""Has what is undefined followed, from the first time that any of it is read.

The steps of all blocks are then exchanged, in place, for steps that have a flow; at the end of the
wave they are exchanged back.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilec.isa import LANES

from ..alu import Array
from ..binding import Binding
from ..blocks import Code, End, Where
from ..instructions import undefined
from ..machine import Machine, Step
from ..ptx.module import Instruction
from ..traits import traits
from .flows import Flow, Flowing
from .marks import combined
from .state import Taint


class Watcher:
    """Exchanges the steps of a program for those that follow what is undefined."""

    def __init__(self, machine: Machine, taint: Taint) -> None:
        self.machine = machine
        self.taint = taint
        self._blocks: list[tuple[Code, list[Binding]]] = []
        self._watching = False
        self._flows: dict[int, Flow] = {}
        self._plain: list[tuple[Code, list[Step], End]] = []
        taint.started = self._start
        taint.ended = self._end

    def _start(self, instruction: Instruction | None) -> None:
        """Something undefined is read for the first time, in the middle of an instruction."""
        if self.machine.crew is not None:
            self.machine.crew.finish()
        self._watching = True
        for code, bindings in self._blocks:
            self._watch(code, bindings)
            if code is self.machine.code:
                for binding in bindings:
                    if binding.instruction is instruction:
                        self._flow(binding)()

    def _end(self) -> None:
        for code, steps, end in self._plain:
            code.steps[:], code.end = steps, end
        self._plain.clear()
        self._watching = False

    def translated(self, code: Code, bindings: list[Binding]) -> None:
        """A block has been bound, of which these are the instructions."""
        self._blocks.append((code, bindings))
        if self._watching:
            self._watch(code, bindings)

    def _watch(self, code: Code, bindings: list[Binding]) -> None:
        """Exchange the steps of a block."""
        self._plain.append((code, list(code.steps), code.end))
        code.steps[:] = [
            self.step(binding) if binding.inner is not None else step
            for binding, step in zip(bindings, code.steps, strict=True)
        ]
        if code.end.by is not None:
            end = code.end
            code.end = WatchedEnd(
                end.where, end.otherwise, end.slot, end.negated, end.by, taint=self.taint
            )

    def _flow(self, binding: Binding) -> Flow:
        found = self._flows.get(id(binding))
        if found is None:
            found = self._flows[id(binding)] = self._find(binding)
        return found

    def _find(self, binding: Binding) -> Flow:
        taint, instruction = self.taint, binding.instruction
        assert binding.inner is not None
        flowing = Flowing(self.machine, taint, binding, binding.inner)
        inner = undefined(instruction)(flowing)
        addresses = tuple(dict.fromkeys(binding.addressed))
        lanes = _addressing(instruction)

        def flow() -> None:
            if addresses and taint.any(addresses):
                threads, origin = combined(taint.of(instruction, addresses))
                taint.harm(instruction, threads & lanes, origin, "has an address made of")
            inner()

        return flow

    def step(self, binding: Binding) -> Step:
        """The step of an instruction, with its flow before it."""
        assert binding.inner is not None
        flow, inner = self._flow(binding), binding.inner

        def step() -> None:
            flow()
            inner()

        if binding.guard is None:
            return step
        slot, guarded = binding.guard
        held = guarded(step)
        taint, instruction, targets = self.taint, binding.instruction, tuple(binding.written)

        def run() -> None:
            if slot not in taint.registers:
                held()
                return
            (marks,) = taint.of(instruction, (slot,))
            if not targets:
                taint.harm(
                    instruction, marks.threads, marks.origin, "is executed, or not, by a guard of"
                )
            held()
            taint.write_some(targets, marks.threads, marks.origin)

        return run


def _addressing(instruction: Instruction) -> Array:
    """The lanes whose addresses count."""
    rows = LANES
    if traits(instruction).matrix:
        from tilec.isa import MatrixMemory  # noqa: PLC0415 (few kernels have any)

        from ..matrix_forms import matrix_form  # noqa: PLC0415

        form = matrix_form(instruction)
        rows = form.matrices * form.rows if isinstance(form, MatrixMemory) else LANES
    return (np.arange(LANES) < rows).reshape(1, 1, LANES)


@dataclass(slots=True, kw_only=True)
class WatchedEnd(End):
    """The end of a block that says where an undefined value decides about it."""

    taint: Taint

    def next(self, machine: Machine) -> Where | list[tuple[Array | None, Where]]:
        """As `End.next`."""
        if self.by is not None:
            self.taint.harm_by(self.by, self.read, "branches by")
        return End.next(self, machine)
