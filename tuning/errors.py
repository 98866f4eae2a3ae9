"""Errors of declarations of tuning, at their place."""

from __future__ import annotations

from tilec.isa import TilecError


class TuningError(TilecError):
    """Something wrong with a search space, a problem or a store.

    Attributes:
        place: `file:line:col` of it, or empty.
    """

    def __init__(self, message: str, place: str = "") -> None:
        self.place = place
        super().__init__(f"{place}: error: {message}" if place else message)
