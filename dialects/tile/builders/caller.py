"""Where the user's own Python code builds an op: its place in MLIR locations and in errors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import NamedTuple, ParamSpec, TypeVar

from tilec.ir.mlir import ir
from tilec.isa import TilecError

P = ParamSpec("P")
T = TypeVar("T")

_SKIPPED = ("tilec", "contextlib")
"""Packages whose frames are not the user's."""


class Place(NamedTuple):
    """A place in a Python file, lines and columns counted from one."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    @property
    def location(self) -> ir.Location:
        """The place as an MLIR location."""
        return ir.Location.file(self.file, self.line, self.column)


class BuildError(TilecError):
    """A call that builds no legal op.

    Attributes:
        place: of the call, in the user's code.
        reason: what is wrong with it.
    """

    def __init__(self, place: Place, reason: str) -> None:
        self.place = place
        self.reason = reason
        super().__init__(f"{place}: {reason}")


def caller() -> Place:
    """The call that is under way in the innermost frame outside tilec."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _package(frame) in _SKIPPED and frame.f_back is not None:
        frame = frame.f_back
    assert frame is not None
    code, at = frame.f_code, frame.f_lasti // 2
    line, _, column, _ = next(islice(code.co_positions(), at, None), (None,) * 4)
    return Place(code.co_filename, line or frame.f_lineno, (column or 0) + 1)


def _package(frame: FrameType) -> str:
    name: str = frame.f_globals.get("__name__", "")
    return name.partition(".")[0]


def located(build: Callable[P, T]) -> Callable[P, T]:
    """Run `build` with the caller's place as MLIR's current location.

    The decorated function raises its TilecErrors as BuildErrors that say that place.
    """

    @wraps(build)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> T:
        place = caller()
        try:
            with place.location:
                return build(*args, **kwargs)
        except BuildError:
            raise
        except TilecError as error:
            raise BuildError(place, str(error)) from None

    return wrapper


@contextmanager
def traced() -> Iterator[None]:
    """Give upstream's builders, too, the place of the code that calls them."""
    _exclude_bindings()
    with ir.loc_tracebacks(max_depth=1):
        yield


@cache
def _exclude_bindings() -> None:
    """Keep the frames of the bindings' own files out of upstream's tracebacks."""
    ir._globals.register_traceback_file_exclusion(str(Path(ir.__file__).parent))
