"""What is to be undone where a command must end at once: files half written, tools at work.

A command that is told to end does so without an exception, which would have to come through
libraries that take none: numpy amid its import, MLIR amid a pass. While there is nothing to undo it
is the system that ends it, since Python hears of a signal only when such a library returns.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

_undo: list[Callable[[], object]] = []
_ending: set[signal.Signals] = set()
"""The signals that end this process; none if it is not a command's."""


@contextmanager
def undone(undo: Callable[[], object]) -> Iterator[None]:
    """Has `undo` called if the process is told to end inside; it may be called twice."""
    _undo.append(undo)
    try:
        _attend()
        yield
    finally:
        _undo.remove(undo)
        _attend()


def end_on_signals() -> None:
    """Let SIGINT and SIGTERM end this process, which is a command's, wherever it is.

    One that the process was started to ignore stays ignored.
    """
    for one in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(one) is not signal.SIG_IGN:
            _ending.add(one)
    _attend()


def _attend() -> None:
    """Have signals undo first, if there is something, else end the process by themselves."""
    with suppress(ValueError):  # of a thread that is not the main one
        for one in _ending:
            signal.signal(one, _end if _undo else signal.SIG_DFL)


def _end(number: int, frame: FrameType | None) -> None:
    del frame
    for undo in reversed(_undo):
        with suppress(Exception):
            undo()
    os._exit(128 + number)
