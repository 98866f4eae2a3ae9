"""What the harness tries: a case, and how far it came."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, Protocol


class Reached(StrEnum):
    """How far a case came, each including those before."""

    REFUSED = "refused"
    """One error, or several, at their places."""
    VERIFIED = "verified"
    """A program that MLIR and tilec's verifiers take, or a text that is read whole."""
    PTX = "ptx"
    RAN = "ran"
    """It ran on the simulator, and gave what it should where that is known."""


class WrongError(Exception):
    """What is neither success nor one error: the reason says what."""


@dataclass(frozen=True)
class Case:
    """One input.

    Attributes:
        entry: the name of the entry that runs it.
        text: what is tried, which reduction makes smaller.
        options: the rest of it, plain data.
    """

    entry: str
    text: str
    options: dict[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """The case as JSON has it."""
        return asdict(self)


class Entry(Protocol):
    """A way into tilec; each is a module in `entries/`."""

    def prepare(self) -> None:
        """Import and make, before the process forks, what every case needs."""
        ...

    def make(self, rng: random.Random) -> Case:
        """A new case."""
        ...

    def run(self, case: Case) -> Reached:
        """Try a case in this process.

        Raises:
            WrongError, and anything else that tilec raises and must not.
        """
        ...
