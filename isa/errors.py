"""Errors that name what would be legal; the base of every error of tilec's own."""

from __future__ import annotations

from collections.abc import Iterable


class TilecError(Exception):
    """What a user of tilec did wrong, said in one message and never as a traceback."""


class LaunchError(TilecError):
    """A launch whose kernel, grid, block or arguments do not fit, on whatever runs it."""


class NoMapError(LaunchError):
    """No tensor map describes an array that a kernel copies boxes of."""


class UnknownNameError(TilecError):
    """A name that is not in a table.

    Attributes:
        name: the name as given.
        nearest: the legal names nearest to it, best first.

    Args:
        what: what the name should be of.
        name: the name.
        legal: legal names, of which the message has the nearest.
        note: what more there is to say.
        every: whether `legal` has all of them.
    """

    def __init__(
        self, what: str, name: str, legal: Iterable[str], *, note: str = "", every: bool = True
    ) -> None:
        choices = list(legal)
        self.name = name
        self.nearest = nearest(name, choices)
        message = f"unknown {what} '{name}'"
        if self.nearest:
            whole = every and len(choices) <= len(self.nearest)
            word = "legal" if whole else "nearest legal"
            message += f"; {word}: {', '.join(self.nearest)}"
        super().__init__(message + (f" ({note})" if note else ""))


def nearest(name: str, legal: Iterable[str], count: int = 8) -> tuple[str, ...]:
    """The up to `count` names of `legal` most like `name`; all, in their order, if so few.

    Names that begin with `name` come first.
    """
    choices = list(dict.fromkeys(legal))
    if len(choices) <= count:
        return tuple(choices)
    begun = [choice for choice in choices if name and choice.startswith(name)]
    from difflib import get_close_matches  # noqa: PLC0415 (for messages only)

    like = get_close_matches(name, choices, n=count, cutoff=0.3)
    return tuple(dict.fromkeys((*begun, *like)))[:count] or tuple(choices[:count])
