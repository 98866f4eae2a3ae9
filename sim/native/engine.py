"""Stretches of blocks, which machine code takes over from numpy when they are worth it."""

from __future__ import annotations

from collections.abc import Sequence

from ..binding import Binding
from ..blocks import Code, End
from ..machine import Machine
from . import choice, stretches
from .accesses import Accesses
from .choice import waiting
from .control import Control
from .library import library


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
        pure = pure and all(stretches.form_of(binding) is not None for binding in bindings)
        if pure and not bindings:
            code.native = []
        found = []
        for first, forms in stretches.runs(bindings, 1 if pure else stretches.SHORTEST):
            stretch = _Cold(code, first, bindings[first : first + len(forms)], forms)
            code.steps[first] = stretch.step
            found.append(stretch)
        if pure:
            for stretch in found:
                stretch.all_of_block = found

    def control(self) -> Control | None:
        """What schedules groups by machine code, once there are stretches."""
        if self._control is None and self._warm():
            known = library()
            assert known is not None
            self._control = Control(self.machine, known)
        return self._control

    @staticmethod
    def _warm() -> bool:
        return choice.worth() and library() is not None


class _Cold:
    """A stretch that numpy executes, until it has been executed some times."""

    def __init__(
        self, code: Code, first: int, bindings: Sequence[Binding], forms: Sequence[stretches.Form]
    ) -> None:
        self._code = code
        self._first = first
        self._bindings = bindings
        self._forms = forms
        self._steps = code.steps[first : first + len(forms)]
        self._times = 0
        self._stretch: stretches.Stretch | None = None
        self.all_of_block: Sequence[_Cold] = ()

    def step(self) -> None:
        """The first instruction, or all of the stretch."""
        self._times += 1
        if self._times > choice.AFTER and self._warm():
            return
        self._steps[0]()

    def _warm(self) -> bool:
        """Have machine code execute the stretch from now on, this time included."""
        count = len(self._forms)
        if waiting(count):
            return False
        found = library()
        first, last = self._first, self._first + count
        if found is None:
            self._code.steps[first] = self._steps[0]
            return False
        stretch = stretches.build(found, self._bindings, self._forms, self._steps)
        self._stretch = stretch
        warm = [one._stretch for one in self.all_of_block if one._stretch is not None]
        if warm and len(warm) == len(self.all_of_block):
            self._code.native = warm
        # What is left of this pass over the block finds the rest of the stretch done.
        self._code.steps[first:last] = [stretch, *[_done] * (count - 1)]
        stretch()
        return True


def _done() -> None:
    """The step of an instruction that has been executed with the first of its stretch."""
