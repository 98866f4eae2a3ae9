"""Accesses to global memory by different threads of a CTA that nothing orders."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import inf

from tilec.dialects.semantics import Spread
from tilec.ir.mlir import ir

from .cta_accesses import CtaAccess, Role
from .effects import may_alias
from .index_distance import Distances
from .index_forms import Loops
from .memory_steps import Barrier, Choice, Commit, Loop, Steps, Wait
from .uniformity import Uniformity, control_of

_OPEN = -1
"""The age of a copy whose group is not closed; that of the latest closed group is 0."""
_DONE = inf
"""The age of what is complete in the thread that began it."""

Pending = dict[tuple[CtaAccess, Loops], float]
"""Accesses since the last barrier and their ages, with the loops that went on to a further round
since."""


@dataclass(frozen=True, slots=True)
class Hazard:
    """Accesses that must be ordered, and where that can be done.

    Attributes:
        first: the accesses of before.
        second: the access that must wait for them.
        before: the op in front of which all threads must have done with the first.
        age: -1 if copies among the first are in a group that is still open, else the number of
            closed groups behind theirs; infinite where no copy is among them.
    """

    first: tuple[tuple[CtaAccess, Loops], ...]
    second: CtaAccess
    before: ir.OpView
    age: float


class _FoundError(Exception):
    """Ends the search."""

    def __init__(self, hazard: Hazard) -> None:
        super().__init__()
        self.hazard = hazard


class MemoryOrder:
    """The search for hazards in one kernel.

    Args:
        function: the kernel.
    """

    def __init__(self, function: ir.OpView) -> None:
        self._function = function
        self._distances = Distances()
        self._known: dict[tuple[CtaAccess, CtaAccess, Loops], bool] = {}

    def hazard(self, steps: Steps) -> Hazard | None:
        """The first accesses that nothing orders, or None."""
        try:
            self._run(steps, {})
        except _FoundError as found:
            return found.hazard
        return None

    def conflict(self, first: CtaAccess, second: CtaAccess, passed: Loops = frozenset()) -> bool:
        """Whether different threads may access one element, and one of them changes it.

        Args:
            first: the access that each thread makes first.
            second: the other.
            passed: the loops that go on to a further round between them.
        """
        key = first, second, passed
        if key not in self._known:
            self._known[key] = self._conflict(first, second, passed)
        return self._known[key]

    def _conflict(self, first: CtaAccess, second: CtaAccess, passed: Loops) -> bool:
        if _commute(first, second) or not self._of_cta(first, second):
            return False
        if first.memref is None or second.memref is None:
            return True
        if not self._distances.same(second.memref, first.memref, passed):
            return may_alias(first.memref, second.memref)
        if not (first.extents and second.extents):
            return True
        pairs = zip(second.indices, first.indices, strict=True)
        apart = [self._distances.between(later, earlier, passed) for later, earlier in pairs]
        ends = zip(apart, first.extents, second.extents, strict=True)
        if any(d.least >= extent or -d.greatest >= its for d, extent, its in ends):
            return False
        copies = first.asynchronous or second.asynchronous
        alike = first.owner is not None and first.owner == second.owner and not copies
        return not (alike and all(d == (0, 0) for d in apart))

    @cached_property
    def uniformity(self) -> Uniformity:
        """Which values are the same in all threads."""
        return Uniformity(self._function)

    def _of_cta(self, first: CtaAccess, second: CtaAccess) -> bool:
        """Whether one is shared out by tilec, or both are what all threads do alike."""
        return first.of_cta or second.of_cta or all(map(self._alike, (first, second)))

    def _alike(self, access: CtaAccess) -> bool:
        """Whether all threads make an access at one place."""
        if not access.indices or control_of(self.uniformity, access.op, Spread.CTA) is not None:
            return False
        return all(self.uniformity.of(index) is Spread.CTA for index in access.indices)

    def _run(self, steps: Steps, pending: Pending) -> Pending:
        """What is pending behind steps; `pending` itself is left as it is."""
        for step in steps:
            match step:
                case CtaAccess():
                    self._check(step, pending)
                    age = _OPEN if step.asynchronous else _DONE
                    pending = _joined(pending, {(step, frozenset()): age})
                case Barrier():
                    pending = {key: age for key, age in pending.items() if age < _DONE}
                case Commit():
                    pending = {key: age + 1 for key, age in pending.items()}
                case Wait():
                    pending = {
                        key: _DONE if age >= step.pending else age for key, age in pending.items()
                    }
                case Choice():
                    ways = [self._run(way, pending) for way in step.ways]
                    pending = _joined(*ways)
                case Loop():
                    pending = self._loop(step, pending)
        return pending

    def _check(self, access: CtaAccess, pending: Pending) -> None:
        found = [key for key in pending if self.conflict(key[0], access, key[1])]
        if found:
            age = min(pending[key] for key in found)
            raise _FoundError(Hazard(tuple(found), access, access.op, age))

    def _loop(self, loop: Loop, pending: Pending) -> Pending:
        """What is pending behind a loop."""
        carried: Pending = {}
        while True:  # what its own rounds leave to each other is ordered inside
            own = self._run(loop.test, carried)
            left = _joined(carried, _passed(self._run(loop.body, own), loop.op))
            if left == carried:
                break
            carried = left
        try:  # what was pending before is ordered once, in front of it
            entered = self._run(loop.test, pending)
            last = self._run(loop.body, entered)
        except _FoundError as found:
            raise _FoundError(replace(found.hazard, before=loop.op)) from None
        return _joined(own, entered, _passed(last, loop.op))


def _commute(first: CtaAccess, second: CtaAccess) -> bool:
    """Whether the order of two accesses to one element does not matter."""
    if first.role is not second.role or first.role is Role.WRITE:
        return False
    if first.role is Role.READ:
        return True
    return first.function == second.function and _element(first) == _element(second)


def _element(update: CtaAccess) -> ir.Type:
    """The type of the elements that an atomic op updates."""
    assert update.memref is not None
    return ir.MemRefType(update.memref.type).element_type


def _passed(pending: Pending, loop: ir.OpView) -> Pending:
    """What is pending in the next round of a loop."""
    found: Pending = {}
    for (access, passed), age in pending.items():
        key = access, passed | {loop.operation}
        found[key] = min(age, found.get(key, age))
    return found


def _joined(*ways: Pending) -> Pending:
    """What is pending after one of several ways: of each access what is least complete."""
    found: Pending = {}
    for way in ways:
        for key, age in way.items():
            found[key] = min(age, found.get(key, age))
    return found
