"""Errors of steps, as those who launch a kernel are told of them."""

from __future__ import annotations

from typing import NoReturn

from .errors import PtxError
from .report import SimulationError


def fail(error: Exception, place: str) -> NoReturn:
    """Raise the error of a step, with the place of the instruction if it names none."""
    if isinstance(error, PtxError | SimulationError):
        raise error
    if isinstance(error, IndexError):
        raise SimulationError(
            f"{place}: memory access outside every allocation ({error}); "
            "run with checks to see the thread and the address"
        ) from None
    raise SimulationError(f"{place}: {error}") from error
