"""Methods of objects that do not change, whose results are kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Concatenate, ParamSpec, TypeVar, cast

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def cached_method(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[S, P], T]:
    """A method that is run once an object and its arguments.

    What it emits is interned, so that the result is in reach of whoever asks later.
    """
    name = f"_{method.__name__}_results"

    def cached(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (args, *kwargs.items())
        results: dict[object, T] | None = self.__dict__.get(name)
        if results is None:
            results = self.__dict__[name] = {}
        elif key in results:
            return results[key]
        found = results[key] = method(self, *args, **kwargs)
        return found

    return cast("Callable[Concatenate[S, P], T]", update_wrapper(cached, method))
