"""Which engine executes a launch, and when machine code takes over from numpy."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..binding import Binding
from ..blocks import Code
from ..errors import LaunchError
from ..machine import Machine
from . import stretches
from .library import library

VARIABLE = "TILEC_SIM_ENGINE"
"""Environment variable that names the engine."""
ENGINES = ("numpy", "native")


def chosen() -> str:
    """The engine that the environment names, or the default.

    Raises:
        LaunchError: if there is none of that name.
    """
    said = os.environ.get(VARIABLE, "") or ENGINES[0]
    if said not in ENGINES:
        raise LaunchError(f"{VARIABLE} is '{said}'; legal: {', '.join(ENGINES)}")
    return said


AFTER = 8
"""Times that numpy executes a stretch before machine code does."""
WORK = 20_000
"""Instructions of stretches that numpy executes before the library is loaded; about 0.1 s."""


class _Done:
    """Work that numpy has done in this process for want of the library."""

    instructions = 0


class Native:
    """Has stretches of a program's blocks executed by machine code, once they are worth it."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def prepare(self, code: Code, bindings: Sequence[Binding]) -> None:
        """Exchange the steps of a block's stretches: the first executes all of its stretch."""
        if self.machine.numerics == "algebraic" or len(bindings) != len(code.steps):
            return
        for first, forms in stretches.runs(bindings):
            stretch = _Cold(code, first, bindings[first : first + len(forms)], forms)
            code.steps[first] = stretch.step


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

    def step(self) -> None:
        """The first instruction, or all of the stretch."""
        self._times += 1
        if self._times > AFTER and self._warm():
            return
        self._steps[0]()

    def _warm(self) -> bool:
        """Have machine code execute the stretch from now on, this time included."""
        count = len(self._forms)
        if _Done.instructions < WORK:
            _Done.instructions += count
            return False
        found = library()
        first, last = self._first, self._first + count
        if found is None:
            self._code.steps[first] = self._steps[0]
            return False
        stretch = stretches.build(found, self._bindings, self._forms, self._steps)
        # What is left of this pass over the block finds the rest of the stretch done.
        self._code.steps[first:last] = [stretch, *[_done] * (count - 1)]
        stretch()
        return True


def _done() -> None:
    """The step of an instruction that has been executed with the first of its stretch."""
