"""Which engine executes a launch, and from when on machine code is worth loading."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from ..errors import LaunchError

if TYPE_CHECKING:
    from .library import Library

VARIABLE = "TILEC_SIM_ENGINE"
"""Environment variable that names the engine."""
ENGINES = ("numpy", "native")
DEFAULT = "native"

THREADS = "TILEC_SIM_THREADS"
"""Environment variable that says how many threads compute; by default one for each core."""

WORK = 20_000
"""Instructions that numpy executes before the library is loaded; about 0.1 s."""

AFTER = 8
"""Times that numpy executes an instruction, or a stretch of them, before machine code does."""

FEWEST = 16
"""Warps whose products take longer than to hand them to another thread."""


class _Done:
    """Work that numpy has done in this process for want of the library, in instructions."""

    instructions = 0.0


def chosen() -> str:
    """The engine that the environment names, or the default.

    Raises:
        LaunchError: if there is none of that name.
    """
    said = os.environ.get(VARIABLE, "") or DEFAULT
    if said not in ENGINES:
        raise LaunchError(f"{VARIABLE} is '{said}'; legal: {', '.join(ENGINES)}")
    return said


def threads() -> int:
    """How many threads machine code may use, that of the launch included.

    Raises:
        LaunchError: if the environment says something else than a number from 1 on.
    """
    return number(THREADS, "threads") or cores()


def number(variable: str, what: str) -> int:
    """How many of something the environment asks for; 0 if it says nothing.

    Raises:
        LaunchError: if it says something else than a number from 1 on.
    """
    said = os.environ.get(variable, "")
    if not said:
        return 0
    if not said.isascii() or not said.isdigit() or int(said) < 1:
        raise LaunchError(f"{variable} is '{said}'; legal: a number of {what}, at least 1")
    return int(said)


@cache
def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine_code() -> bool:
    """Whether that engine is chosen.

    Raises:
        LaunchError: as `chosen`.
    """
    return chosen() == "native"


def worth() -> bool:
    """Whether enough has been executed for the library to be loaded."""
    return _Done.instructions >= WORK


def loads_at_once() -> None:
    """Take it that enough has been executed: this process exists for what takes long."""
    _Done.instructions = WORK


def waiting(work: float) -> bool:
    """Whether numpy is to do some work, in instructions, since it has not yet done enough."""
    if _Done.instructions >= WORK:
        return False
    _Done.instructions += work
    return True


def library_for(work: float) -> Library | None:
    """The library for some work outside of launches' blocks; None if numpy is to do it yet."""
    if waiting(work):
        return None
    from .library import library  # noqa: PLC0415 (for machine code only)

    return library()
