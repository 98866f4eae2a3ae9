"""What a language server logs on standard error: a line for each record.

pygls logs a traceback for every message that is not JSON, or not as the protocol has it.
"""

from __future__ import annotations

import logging
import os

from .colours import say
from .common import TRACEBACK

_LONGEST = 300
"""Characters shown of a record."""


class _Lines(logging.Handler):
    """Says records as commands say errors and warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        """Say a record, with its traceback only if that is asked for."""
        text = record.getMessage().partition("\n")[0]  # pygls has tracebacks in some of them
        error = record.exc_info[1] if record.exc_info else None
        if error is not None:
            text += f": {type(error).__name__}: {error}"
        severity = "error" if record.levelno >= logging.ERROR else "warning"
        say(f"{severity}: {' '.join(text.split())[:_LONGEST]}\n")
        if record.exc_info and os.environ.get(TRACEBACK):
            say(logging.Formatter().formatException(record.exc_info) + "\n")


def log_lines() -> None:
    """Have what is logged in this process said so, warnings and errors."""
    logging.basicConfig(level=logging.WARNING, handlers=[_Lines()], force=True)
