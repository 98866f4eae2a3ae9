"""What a block consists of that machine code executes: stretches, loads and stores, barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..binding import Binding
from ..machine import Step
from ..sync import BarrierSync, Members, Waits
from ..traits import Sync, Unit, traits, unit
from .accesses import NativeAccess
from .stretches import Form, Stretch

if TYPE_CHECKING:
    from ..blocks import Code


class StretchPart(NamedTuple):
    """A stretch.

    Attributes:
        place: of its first instruction in the block.
        stretch: the stretch.
    """

    place: int
    stretch: Stretch


class AccessPart(NamedTuple):
    """A load or store.

    Attributes:
        place: of the instruction in the block.
        access: what executes it.
        guard: the slot of its guard, and whether that must be false; None without.
        guarded: has something done where that holds.
    """

    place: int
    access: NativeAccess
    guard: tuple[int, bool] | None
    guarded: Callable[[Step], Step] | None


class BarrierPart(NamedTuple):
    """A barrier of all threads of the CTAs.

    Attributes:
        place: of the instruction in the block.
        step: what numpy does where all threads come together.
    """

    place: int
    step: Step


class StepPart(NamedTuple):
    """An instruction that Python executes, while machine code waits.

    Attributes:
        place: of the instruction in the block.
        code: the block, whose steps may be exchanged.
        sync: what it has to wait for in warps that are not whole, or None.
        aside: whether it touches neither memory that is checked nor time.
    """

    place: int
    code: Code
    sync: Waits | None
    aside: bool


OtherPart = AccessPart | BarrierPart | StepPart
Part = StretchPart | OtherPart

_ASIDE = (Unit.EXCHANGE, Unit.SPECIAL, Unit.ARITHMETIC)


class Parts(NamedTuple):
    """A block, by its parts in order."""

    parts: Sequence[Part]

    def of(self, code: Code) -> bool:
        """Whether they are what the block does: steps are exchanged where values are followed."""
        return all(
            code.steps[part.place] is part.stretch
            for part in self.parts
            if isinstance(part, StretchPart)
        )


def other_part(index: int, binding: Binding, code: Code) -> OtherPart | None:
    """The part of a block that an instruction is, where it is none of a stretch."""
    sync, access = binding.sync, binding.mover
    if isinstance(sync, BarrierSync) and binding.plain:
        plain = sync.plain and sync.reduction is None and binding.guard is None
        return BarrierPart(index, code.steps[index]) if plain else None
    if sync is None and binding.plain and isinstance(access, NativeAccess):
        if binding.guard is None:
            return AccessPart(index, access, None, None)
        slot, guarded = binding.guard
        return AccessPart(index, access, (slot, binding.instruction.negated), guarded)
    return _step_part(index, binding, code)


def _step_part(index: int, binding: Binding, code: Code) -> StepPart | None:
    """The part that Python executes; None of what others wait for, or compute meanwhile."""
    sync, known = binding.sync, traits(binding.instruction)
    if sync is not None and not isinstance(sync, Members):
        return None
    if known.sync not in (Sync.NONE, Sync.WARP) or known.matrix or known.product or known.polls:
        return None
    if known.waits or known.asynchronous or known.takes_over or known.response:
        return None
    aside = binding.plain and unit(binding.instruction) in _ASIDE
    return StepPart(index, code, sync, aside)


def parts_of(
    bindings: Sequence[Binding], forms: Sequence[Form | None], code: Code
) -> dict[int, OtherPart] | None:
    """What a block has beside stretches, if it is worth it to have machine code go on with it.

    None where it is not: each instruction that Python executes takes longer then, and all others
    less.
    """
    found: dict[int, OtherPart] = {}
    for index, (binding, form) in enumerate(zip(bindings, forms, strict=True)):
        if form is None:
            part = other_part(index, binding, code)
            if part is None:
                return None
            found[index] = part
    cost = 0.0
    for part in found.values():
        if isinstance(part, StepPart):
            cost += _ASIDE_COST if part.aside else _STEP_COST
        else:
            cost -= 1
    return found if cost <= 0 else None


_ASIDE_COST, _STEP_COST = 0.1, 0.7
"""What it takes to have Python execute an instruction, in what a load or store takes it."""
