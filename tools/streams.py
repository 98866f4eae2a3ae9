"""A command's standard streams: closed, full, or of an encoding that lacks characters."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Literal, TextIO


def open_streams() -> None:
    """Let the standard streams take what a command writes.

    One that is closed gets its number again, which the next open file would have otherwise:
    reading or writing it is an error of the command then. What an encoding lacks is escaped.
    """
    if sys.stdin is None:
        sys.stdin = _closed(0, os.O_WRONLY, "r")
    if sys.stdout is None:
        sys.stdout = _closed(1, os.O_RDONLY, "w")
    if sys.stderr is None:  # nobody is to be told
        sys.stderr = _closed(2, os.O_WRONLY, "w")
    for stream in (sys.stdout, sys.stderr):
        # Of other encodings than UTF-8 the C locale's would fail, too, with "surrogateescape".
        if isinstance(stream, io.TextIOWrapper) and stream.errors != "backslashreplace":
            stream.reconfigure(errors="backslashreplace")


def _closed(number: int, flags: int, mode: Literal["r", "w"]) -> TextIO:
    """A stream on a number that no file has, which does not allow what it is for."""
    opened = os.open(os.devnull, flags)
    if opened != number:
        os.dup2(opened, number)
        os.close(opened)
    return open(number, mode, encoding="utf-8", closefd=False)


def flush() -> None:
    """Write out what standard output holds.

    Raises:
        OSError: naming it.
    """
    try:
        sys.stdout.flush()
    except OSError as error:
        raise type(error)(error.errno, error.strerror, "<stdout>") from None


def drop_output() -> None:
    """Write out what can be written; the rest goes nowhere instead of complaining at exit."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError):
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
