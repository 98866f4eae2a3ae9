"""What a block consists of that machine code executes: stretches, loads and stores, barriers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..binding import Binding
from ..machine import Step
from ..sync import BarrierSync
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


Part = StretchPart | AccessPart | BarrierPart


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


def other_part(index: int, binding: Binding, step: Step) -> AccessPart | BarrierPart | None:
    """The part of a block that an instruction is, where it is none of a stretch."""
    if not binding.plain:
        return None
    sync, access = binding.sync, binding.mover
    if isinstance(sync, BarrierSync):
        plain = sync.plain and sync.reduction is None and binding.guard is None
        return BarrierPart(index, step) if plain else None
    if sync is not None or not isinstance(access, NativeAccess):
        return None
    if binding.guard is None:
        return AccessPart(index, access, None, None)
    slot, guarded = binding.guard
    return AccessPart(index, access, (slot, binding.instruction.negated), guarded)


def only_parts(bindings: Sequence[Binding], forms: Sequence[Form | None]) -> bool:
    """Whether a block consists of nothing else, and of instructions that have forms."""

    def step() -> None:
        """Nobody executes it."""

    return all(
        form is not None or other_part(index, binding, step) is not None
        for index, (binding, form) in enumerate(zip(bindings, forms, strict=True))
    )
