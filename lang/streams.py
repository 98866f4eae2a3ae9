"""On which stream a kernel is launched, and whether its end is awaited."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Queue(NamedTuple):
    """Where a launch goes.

    Attributes:
        stream: the driver's handle of the stream.
        waits: whether the launch waits for the kernel's end.
    """

    stream: int
    waits: bool


def queue_of(stream: Any, wait: bool | None, values: Iterable[Any]) -> Queue:
    """The queue of a launch on a GPU.

    Without a stream that is the present one of the library that the arrays are of, which goes on
    working there; where it is not known which that is, the launch waits.

    Args:
        stream: what the user says; None for nothing.
        wait: the same.
        values: the arguments.

    Raises:
        LaunchError: for a stream that is none.
    """
    if stream is not None:
        from tilec.runtime.cuda.streams import handle  # noqa: PLC0415 (for launches on a GPU)

        return Queue(handle(stream), bool(wait))
    found, known = 0, True
    for value in values:
        if type(value) in _NOWHERE:
            continue
        present = _present(value)
        if present is None:
            known = False
        else:
            found = present or found
    return Queue(found, not known if wait is None else wait)


_NOWHERE = frozenset((int, float, bool, str, type(None)))
"""Types of what is on no GPU."""


def _present(value: Any) -> int | None:
    """The stream that an argument's library works on; None if that is not known."""
    package = type(value).__module__.partition(".")[0]
    if package == "tilec" or isinstance(value, np.generic | np.ndarray | type):
        return 0
    library = sys.modules.get(package)
    if package == "torch" and library is not None:
        return int(library.cuda.current_stream(value.device).cuda_stream)
    if package == "cupy" and library is not None:
        return int(library.cuda.get_current_stream().ptr)
    return None
