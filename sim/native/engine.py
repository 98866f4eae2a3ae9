"""Stretches of blocks, which machine code takes over from numpy when they are worth it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..binding import Binding
from ..blocks import Code, End
from ..machine import Machine
from . import choice, stretches
from .accesses import Accesses
from .choice import waiting
from .library import library
from .parts import OtherPart, Part, Parts, StretchPart, parts_of

if TYPE_CHECKING:
    from .control import Control

MANY = 64
"""Warps for which numpy takes longer over a stretch than it takes to prepare it."""


class Native:
    """Has stretches of a program's blocks executed by machine code, once they are worth it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._control: Control | None = None
        if machine.numerics != "algebraic":
            machine.accesses = Accesses(machine)

    def prepare(self, code: Code, bindings: Sequence[Binding]) -> None:
        """Exchange the steps of a block's stretches: the first executes all of its stretch."""
        if self.machine.numerics == "algebraic" or len(bindings) != len(code.steps):
            return
        end = code.end
        pure = type(end) is End and isinstance(end.where, int) and isinstance(end.otherwise, int)
        forms = [stretches.form_of(binding) for binding in bindings]
        others = parts_of(bindings, forms, code) if pure else None
        pure = others is not None
        if pure and not bindings:
            code.native = Parts(())
        found = []
        for first, run in stretches.runs(forms, 1 if pure else stretches.SHORTEST):
            stretch = _Cold(code, first, bindings[first : first + len(run)], run)
            found.append(stretch)
        if others is not None:
            block = _Block(code, found, list(others.values()))
            for stretch in found:
                stretch.block = block
        for stretch in found:
            code.steps[stretch.places.start] = stretch.step

    def control(self) -> Control | None:
        """What schedules groups by machine code, once there are stretches."""
        if self._control is None and self._warm():
            from .control import Control  # noqa: PLC0415 (not for short launches)

            known = library()
            assert known is not None
            self._control = Control(self.machine, known)
        return self._control

    @staticmethod
    def _warm() -> bool:
        return choice.worth() and library() is not None


class _Block:
    """A block that consists of what machine code executes, once all of it is ready."""

    def __init__(
        self,
        code: Code,
        cold: Sequence[_Cold],
        others: Sequence[OtherPart],
    ) -> None:
        self._code = code
        self._cold = cold
        self._others = others

    def warm(self) -> None:
        """Let machine code have the block if all stretches are ready."""
        parts: list[Part] = list(self._others)
        for cold in self._cold:
            if cold.stretch is None:
                return
            parts.append(StretchPart(cold.places.start, cold.stretch))
        self._code.native = Parts(sorted(parts, key=lambda part: part.place))


class _Cold:
    """A stretch that numpy executes, until it has been executed some times.

    Attributes:
        places: of its instructions in the block.
        stretch: the stretch, once it is worth it.
        block: its block, if that consists of what machine code executes.
    """

    def __init__(
        self, code: Code, first: int, bindings: Sequence[Binding], forms: Sequence[stretches.Form]
    ) -> None:
        self._code = code
        self.places = range(first, first + len(forms))
        self._bindings = bindings
        self._forms = forms
        self._steps = code.steps[first : first + len(forms)]
        self._times = 0
        self.stretch: stretches.Stretch | None = None
        self.block: _Block | None = None

    def step(self) -> None:
        """The first instruction, or all of the stretch."""
        self._times += 1
        if (self._times > choice.AFTER or self._known()) and self._warm():
            return
        self._steps[0]()

    def _known(self) -> bool:
        """Whether it is worth it already, since all that it needs is there."""
        shape = self._bindings[0].machine.shape
        many = shape[0] * shape[1] >= MANY
        if (self._times == 1 and not many) or not choice.worth():
            return False
        found = library()
        return found is not None and all(
            found.address(form.name) is not None for form in self._forms
        )

    def _warm(self) -> bool:
        """Have machine code execute the stretch from now on, this time included."""
        count = len(self._forms)
        if waiting(count):
            return False
        found = library()
        first, last = self.places.start, self.places.stop
        if found is None:
            self._code.steps[first] = self._steps[0]
            return False
        stretch = stretches.build(found, self._bindings, self._forms, self._steps)
        self.stretch = stretch
        if self.block is not None:
            self.block.warm()
        # What is left of this pass over the block finds the rest of the stretch done.
        self._code.steps[first:last] = [stretch, *[_done] * (count - 1)]
        stretch()
        return True


def _done() -> None:
    """The step of an instruction that has been executed with the first of its stretch."""
