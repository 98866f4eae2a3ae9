"""What is to be undone where a command must end at once: files half written, tools at work.

A command that is told to end does so without an exception, which would have to come through
libraries that take none: numpy amid its import, MLIR amid a pass.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_undo: list[Callable[[], object]] = []


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """Has `undo` called if the process is told to end inside; it may be called twice."""
    _undo.append(undo)
    try:
        yield
    finally:
        _undo.remove(undo)


def end_on_signals() -> None:
    """Let SIGINT and SIGTERM end this process, which is a command's, wherever it is.

    One that the process was started to ignore stays ignored.
    """
    for one in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(one) is not signal.SIG_IGN:
            signal.signal(one, _end)


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    for undo in reversed(_undo):
        with suppress(Exception):
            undo()
    os._exit(128 + number)
