"""Where barriers must stand, for a CTA's accesses to memory to keep the program's order."""

from __future__ import annotations

from math import inf
from typing import NamedTuple

from tilec.dialects.semantics import Spread, is_function
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir

from .cta_accesses import CtaAccess
from .index_forms import Loops
from .memory_conflicts import Conflicts
from .memory_steps import Barrier, Choice, Commit, Loop, Step, Steps, Wait
from .pending_accesses import (
    OPEN,
    Pending,
    begun,
    committed,
    joined,
    met,
    ordered,
    passed,
    waited,
)
from .uniformity import control_of


class Hazard(NamedTuple):
    """Accesses that must be ordered, and where that can be done.

    Attributes:
        first: the accesses of before, with the loops that go on to a further round in between.
        second: the access that must wait for them.
        before: the op in front of which all threads must have done with the first.
        age: of the copies among the first, as of `pending_accesses`.
    """

    first: tuple[tuple[CtaAccess, Loops], ...]
    second: CtaAccess
    before: ir.OpView
    age: float


class UnorderedError(Exception):
    """There is a hazard where no barrier may stand.

    Attributes:
        hazard: the hazard.
        branch: what sends the threads of the CTA different ways around both accesses.
    """

    def __init__(self, hazard: Hazard, branch: Op) -> None:
        super().__init__(hazard, branch)
        self.hazard = hazard
        self.branch = branch


class _FoundError(Exception):
    """A hazard that is for who runs the steps to see to."""

    def __init__(self, hazard: Hazard) -> None:
        super().__init__()
        self.hazard = hazard


class _EarlierError(Exception):
    """A barrier has been put in front of steps that have been run already."""


class MemoryOrder:
    """The barriers of one kernel.

    Attributes:
        barriers: the ops in front of which they stand, and what they are for.
    """

    def __init__(self, function: ir.OpView) -> None:
        self.barriers: dict[ir.Operation, Hazard] = {}
        self._conflicts = Conflicts(function)
        self._put = 0

    def find(self, steps: Steps) -> None:
        """Find the barriers that a kernel's steps need.

        Raises:
            UnorderedError: if one would stand where not all threads come.
        """
        while True:
            try:
                self._run(steps, {}, settle=True)
            except _EarlierError:
                continue
            return

    def _run(self, steps: Steps, pending: Pending, *, settle: bool) -> Pending:
        """What is pending after steps; `pending` itself is left as it is.

        Args:
            steps: the steps.
            pending: what is before them.
            settle: whether barriers are put for hazards, rather than the first raised.
        """
        for step in steps:
            match step:
                case Barrier():
                    pending = met(pending)
                case Commit():
                    pending = committed(pending)
                case Wait():
                    pending = waited(pending, step.pending)
                case _:
                    there = self.barriers.get(step.op.operation) if step.op else None
                    if there is not None:
                        pending = ordered(pending, there.age)
                    pending = self._step(step, pending, settle=settle)
        return pending

    def _step(self, step: Step, pending: Pending, *, settle: bool) -> Pending:
        match step:
            case CtaAccess():
                found = tuple(
                    key for key in pending if self._conflicts.between(key[0], step, key[1])
                )
                if found:
                    age = min(pending[key] for key in found)
                    hazard = Hazard(found, step, step.op, age)
                    pending = self._see_to(hazard, pending, settle=settle)
                return begun(pending, step)
            case Choice():
                return joined(*(self._run(way, pending, settle=settle) for way in step.ways))
            case Loop():
                return self._loop(step, pending, settle=settle)
        raise AssertionError(step)

    def _loop(self, loop: Loop, pending: Pending, *, settle: bool) -> Pending:
        """What is pending after a loop."""
        own = self._rounds(loop, settle=settle)
        while True:  # what was pending before is ordered once, in front of the loop
            try:
                entered = self._run(loop.test, pending, settle=False)
                last = self._run(loop.body, entered, settle=False)
            except _FoundError as found:
                hazard = found.hazard._replace(before=loop.op)
                pending = self._see_to(hazard, pending, settle=settle)
            else:
                return joined(own, entered, passed(last, loop.op))

    def _rounds(self, loop: Loop, *, settle: bool) -> Pending:
        """What the rounds of a loop leave to each other, once that is ordered inside."""
        carried: Pending = {}
        while True:
            before = self._put
            own = self._run(loop.test, carried, settle=settle)
            left = passed(self._run(loop.body, own, settle=settle), loop.op)
            if self._put != before:
                carried = {}
                continue
            left = joined(carried, left)
            if left == carried:
                return own
            carried = left

    def _see_to(self, hazard: Hazard, pending: Pending, *, settle: bool) -> Pending:
        """Put a barrier for a hazard; what is pending after it."""
        if not settle:
            raise _FoundError(hazard)
        place = self._place(hazard).operation
        there = self.barriers.get(place)
        age = hazard.age
        if there is not None and there.age <= age:
            age = _younger(there.age)
        self.barriers[place] = (there or hazard)._replace(age=age)
        self._put += 1
        if place != hazard.before.operation:
            raise _EarlierError
        return ordered(pending, age)

    def _place(self, hazard: Hazard) -> Op:
        """The op that a barrier stands before: outside of what parts the threads of the CTA."""
        place: Op = hazard.before
        while (branch := self._branch(place)) is not None:
            if any(_is_inside(access.op, branch) for access, _ in hazard.first):
                raise UnorderedError(hazard, branch)
            place = branch
        return place

    def _branch(self, op: Op) -> Op | None:
        """The innermost op around `op` under which not all threads of the CTA may come to it."""
        parent, block = op.operation.parent, op.operation.block
        if parent is not None and is_function(parent) and block == parent.regions[0].blocks[0]:
            return None
        return control_of(self._conflicts.uniformity, op.operation.opview, Spread.CTA)


def _younger(age: float) -> float:
    """What a barrier must wait for as well that has not ordered enough.

    Copies are younger where it stands than at the access that must wait: groups are closed between.
    """
    assert age != OPEN, "a barrier that waits for all copies orders everything before it"
    return OPEN if age == inf else age - 1


def _is_inside(op: Op, outer: Op) -> bool:
    inner: Op | None = op
    while inner is not None and inner.operation != outer.operation:
        inner = inner.operation.parent
    return inner is not None
