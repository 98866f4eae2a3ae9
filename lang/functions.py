"""Helpers of kernels with loops and conditions of the kernel's own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import update_wrapper
from typing import Any, ParamSpec, TypeVar, cast

from tilec.isa import TilecError

from .source import read
from .tile import reading

P = ParamSpec("P")
R = TypeVar("R")


class Function:
    """A function marked `@function`: in a kernel its statements are the kernel's.

    Attributes:
        function: the function.
        source: its statements.
        signature: its parameters, with the defaults that they have in a kernel.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.source = read(function)
        update_wrapper(self, function)
        self.function = function
        self.signature = inspect.signature(function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run it in the kernel that is being built; outside kernels, as plain Python."""
        from .emit import building  # noqa: PLC0415 (of use in kernels only)

        if not building():
            return self.function(*args, **kwargs)
        if reading.get() is not None:
            from .stepping import stepped  # noqa: PLC0415 (of use in kernels only)

            return stepped(self.function)(*args, **kwargs)
        from .interpreter import call  # noqa: PLC0415 (it imports this package's language)

        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TilecError(f"{self.function.__name__}: {error}") from None
        bound.apply_defaults()
        return call(self.source, dict(bound.arguments))


def function(helper: Callable[P, R]) -> Callable[P, R]:
    """Mark a helper of kernels whose loops and conditions are the kernel's.

    A helper without needs no mark: it is Python that runs while the kernel is compiled. Called
    outside kernels, a marked function is the plain one.

    Raises:
        KernelError: for Python that kernels cannot use.
        TilecError: for what is not a function.
    """
    return cast("Callable[P, R]", Function(helper))
