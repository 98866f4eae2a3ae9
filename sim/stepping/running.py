"""What runs a wave, as far as a debugger asks."""

from __future__ import annotations

from typing import Protocol

from ..machine import Machine
from ..queues import Queues
from .breakpoints import Breakpoint


class Running(Protocol):
    """A wave that runs."""

    @property
    def machine(self) -> Machine:
        """Its state."""

    @property
    def queues(self) -> Queues:
        """Its threads, by what they wait for."""

    def waits(self) -> list[str]:
        """Who waits for what, in words."""


class Breakpoints(Protocol):
    """Where a launch is to stop."""

    breakpoints: dict[int, Breakpoint]

    def add(self, place: str | int) -> Breakpoint:
        """Set a breakpoint."""

    def remove(self, number: int) -> None:
        """Delete a breakpoint."""
