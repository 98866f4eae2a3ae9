"""Errors that name what would be legal; the base of every error of tilec's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable

_ALIKE = 0.3
"""How much of two names is the same at least, of 1, where one is shown for the other."""


class TilecError(Exception):
    """What a user of tilec did wrong, said in one message and never as a traceback."""

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the user's lines."""
        from .notebooks import rendered  # noqa: PLC0415 (for notebooks only)

        return rendered(self)


class LaunchError(TilecError):
    """A launch whose kernel, grid, block or arguments do not fit, on whatever runs it."""


class NoMapError(LaunchError):
    """No tensor map describes an array that a kernel copies boxes of."""


class MissingNameError(AttributeError):
    """A name that is not there, with what to write instead.

    Args:
        message: what is missing.
        hint: finds what to write, when somebody reads the message: Python itself asks for names
            that are not there, and takes no for an answer.
    """

    def __init__(self, message: str, hint: Callable[[], str] = str) -> None:
        super().__init__(message)
        self._hint = hint

    def __str__(self) -> str:
        return f"{super().__str__()}{self._hint()}"

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows: the user's lines."""
        from .notebooks import rendered  # noqa: PLC0415 (for notebooks only)

        return rendered(self)


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

    Names that begin with `name` come first. If there are none, names that have all its words,
    between dots, are all that is found: those that begin with the first of them, if any does.
    """
    choices = list(dict.fromkeys(legal))
    if len(choices) <= count:
        return tuple(choices)
    begun = [choice for choice in choices if name and choice.startswith(name)]
    if not begun and (found := _with_words(name, choices)):
        return tuple(found[:count])
    return tuple(dict.fromkeys((*begun, *_like(name, choices, count))))[:count] or tuple(
        choices[:count]
    )


def _with_words(name: str, choices: Iterable[str]) -> list[str]:
    """The names that have all words of `name`, shortest first; better those that begin alike."""
    words = name.split(".")
    found = [choice for choice in choices if set(words).issubset(choice.split("."))]
    alike = [choice for choice in found if choice.startswith(f"{words[0]}.")]
    return sorted(alike or found, key=len)


def _like(name: str, choices: Iterable[str], count: int) -> list[str]:
    """What `difflib.get_close_matches` finds, without comparing what its bound leaves out.

    It compares each of a thousand long names, which takes half a second.
    """
    from difflib import SequenceMatcher  # noqa: PLC0415 (for messages only)
    from heapq import heappushpop  # noqa: PLC0415

    matcher = SequenceMatcher(b=name)
    bounds: list[tuple[float, str]] = []
    for choice in choices:
        matcher.set_seq1(choice)
        if matcher.real_quick_ratio() >= _ALIKE and (bound := matcher.quick_ratio()) >= _ALIKE:
            bounds.append((bound, choice))
    best = [(_ALIKE, "")] * count
    for bound, choice in sorted(bounds, reverse=True):
        if bound < best[0][0]:
            break
        matcher.set_seq1(choice)
        heappushpop(best, (matcher.ratio(), choice))
    return [choice for _, choice in sorted(best, reverse=True) if choice]
