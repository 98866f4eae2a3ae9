"""What is remembered of the objects of an MLIR context, for as long as somebody holds its state.

A type keeps its context alive, and so does whatever a type is remembered in. What is worked out
once for each type therefore belongs to the context: it is kept from the first holder of the
context's state to the last, and forgotten then. Of a context whose state nobody holds nothing is
remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from types import FunctionType

    from .mlir import ir

F = TypeVar("F", bound=Callable[..., Any])


class _State:
    """What has been worked out of one context's objects: where it is kept, and under what."""

    def __init__(self) -> None:
        self.holders = 0
        self.kept: list[tuple[dict[Any, Any], Any]] = []


_states: dict[ir.Context, _State] = {}


def hold(context: ir.Context) -> None:
    """Keep what is worked out of the context's objects, until `release` is called as often."""
    _states.setdefault(context, _State()).holders += 1


def release(context: ir.Context) -> None:
    """Forget it, unless others still hold it."""
    state = _states[context]
    state.holders -= 1
    if not state.holders:
        del _states[context]
        for known, arguments in state.kept:
            known.pop(arguments, None)


@contextmanager
def holding(context: ir.Context) -> Iterator[None]:
    """Keeps what is worked out of the context's objects inside."""
    hold(context)
    try:
        yield
    finally:
        release(context)


def per_context(*, argument: int = 0) -> Callable[[F], F]:
    """Decorate a function of types or attributes, and other values, that gives the same each time.

    What it gives is remembered while the context's state is held; errors are not.

    Args:
        argument: the number of one that has the context, given by position.
    """

    def decorate(function: F) -> F:
        # Of all contexts: what belongs to different ones is never equal.
        known: dict[Any, Any] = {}

        @wraps(function)
        def remember_of(given: Any) -> Any:
            try:
                return known[given]
            except KeyError:
                pass
            found = function(given)
            state = _states.get(given.context)
            if state is not None:
                known[given] = found
                state.kept.append((known, given))
            return found

        if cast("FunctionType", function).__code__.co_argcount == 1:  # most, and called most
            return cast("F", remember_of)

        @wraps(function)
        def remember(*arguments: Any) -> Any:
            try:
                return known[arguments]
            except KeyError:
                pass
            found = function(*arguments)
            state = _states.get(arguments[argument].context)
            if state is not None:
                known[arguments] = found
                state.kept.append((known, arguments))
            return found

        return cast("F", remember)

    return decorate
