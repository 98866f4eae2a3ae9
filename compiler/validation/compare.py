"""Whether two forms of a kernel compute the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilec.interpret import ARITHMETICS, Arithmetic, Finding, Outcome, Program, interpret
from tilec.ir.aliases import Op

from .launches import can_launch, launch
from .plans import Parameter, Plan, arguments, for_floats

_LEAST_STEPS = 5_000
"""Ops that a CTA executes at most of a program that is read; what takes longer is no input."""
_STEPS = 100_000
"""Ops that one executes at most of what passes have made of it: many stand for one, then."""
UNUSABLE = frozenset({"bounds", "unspecified", "endless", "divergent", "deadlock"})
"""Findings of a kernel before a pass that say that its input was not a legal one."""
EXACT, SHADOW = ARITHMETICS["algebraic"], ARITHMETICS["f64"]


@dataclass(frozen=True, slots=True)
class Difference:
    """What is not as it was.

    Attributes:
        argument: the number of the memref argument that holds something else; -1 of a finding.
        place: where in it, in row-major order.
        before, after: what was there, in float64, and is.
        finding: something that the program did not do before.
        says: what is wrong with how it ran, if that is not about a place of the program.
    """

    argument: int = -1
    place: int = 0
    before: float = 0.0
    after: float = 0.0
    finding: Finding | None = None
    says: str = ""


def run(
    function: Op | Program,
    plan: Plan,
    known: tuple[Parameter, ...],
    target: str,
    arithmetic: Arithmetic = EXACT,
    *,
    to_try: bool = False,
) -> Outcome:
    """What a kernel leaves of a plan's arguments.

    Args:
        function: the kernel.
        plan: its arguments.
        known: what is known of them.
        target: what it runs on.
        arithmetic: of floats.
        to_try: whether it is only to be seen if the plan is of use; it ends early if not.

    Raises:
        NoMeaning: at an op that has no interpretation.
    """
    op = function.function if isinstance(function, Program) else function
    grid, added = launch(op, plan)
    given = [*arguments(plan, known, arithmetic), *added]
    return interpret(
        function,
        given,
        arithmetic,
        grid=grid,
        target=target,
        limit=_LEAST_STEPS if to_try else _STEPS,
        fatal=UNUSABLE if to_try else frozenset(),
    )


def differ(before: Outcome, after: Outcome, arithmetic: Arithmetic) -> Difference | None:
    """The first difference of two outcomes."""
    for finding in after.findings:
        if finding.kind not in before.kinds:
            return Difference(finding=finding)
    # A pass may add arguments, that say the grid.
    for at, (old, new) in enumerate(zip(before.memories, after.memories, strict=False)):
        if old is None or new is None or old.shape != new.shape:
            continue
        apart = arithmetic.differ(new, old) if old.dtype.kind == "f" else old != new
        if apart.any():
            place = int(np.flatnonzero(apart)[0])
            return Difference(at, place, float(old[place]), float(new[place]))
    return None


@dataclass(frozen=True, slots=True)
class Pair:
    """A kernel before and after a pass.

    Attributes:
        before, after: the functions.
        known: their arguments.
        target: what they run on.
    """

    before: Op
    after: Op
    known: tuple[Parameter, ...]
    target: str

    def difference(
        self, plan: Plan, old: Outcome | None = None, new: Outcome | None = None
    ) -> Difference | None:
        """What differs on a plan's arguments.

        What the algebra finds counts unless floats of 64 bits tell that the formula is the same
        one, in another rounding or written otherwise.

        Args:
            plan: the arguments.
            old: what is left of them before, if that is known already.
            new: the same after the pass.

        Raises:
            NoMeaning: at an op that has no interpretation.
        """
        if not (can_launch(self.before, plan) and can_launch(self.after, plan)):
            return None
        old = old or run(self.before, plan, self.known, self.target)
        if old.kinds & UNUSABLE:
            return None
        new = new or run(self.after, plan, self.known, self.target)
        found = differ(old, new, EXACT)
        if found is None or found.finding is not None:
            return found
        return found if any(map(self._differs_in_floats, for_floats(plan, self.known))) else None

    def _differs_in_floats(self, plan: Plan) -> bool:
        old, new = (
            run(one, plan, self.known, self.target, SHADOW) for one in (self.before, self.after)
        )
        return differ(old, new, SHADOW) is not None


__all__ = ["UNUSABLE", "Difference", "Pair", "differ", "run"]
