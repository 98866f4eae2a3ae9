"""Errors as notebooks show them: the user's own lines, and what is wrong.

IPython asks an exception for `_render_traceback_` before it prints a traceback of its own.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
from collections.abc import Iterator
from types import FrameType, TracebackType

_SHOWN = 4
"""Lines of the user's that are shown, the innermost."""
_INSTALLED = (os.path.dirname(os.__file__), "<frozen")
"""Where the standard library is."""
_PLACE = re.compile(r"^(.+?):(?=\d+:\d+: )", re.MULTILINE)


def rendered(error: BaseException) -> list[str]:
    """The lines of a notebook's output for an error that tilec raised."""
    places = list(_user_places(error.__traceback__))[-_SHOWN:]
    lines = [line for place in places for line in place]
    message = _PLACE.sub(lambda found: f"{_cell(found[1])}:", str(error))
    return [*lines, f"{type(error).__name__}: {message}"]


def _user_places(traceback: TracebackType | None) -> Iterator[tuple[str, str]]:
    """Where the user's code was, and what stands there, outermost first."""
    while traceback is not None:
        frame, line = traceback.tb_frame, traceback.tb_lineno
        if is_users(frame):
            file = frame.f_code.co_filename
            text = linecache.getline(file, line, frame.f_globals).strip()
            yield f"{_cell(file)}, line {line}", f"    {text}"
        traceback = traceback.tb_next


def is_users(frame: FrameType) -> bool:
    """Whether a frame is neither tilec's nor that of an installed package."""
    file = frame.f_code.co_filename
    package = str(frame.f_globals.get("__name__", "")).partition(".")[0]
    return package != "tilec" and not file.startswith(_INSTALLED) and "-packages" not in file


def _cell(file: str) -> str:
    """What the notebook calls a file: the number of a cell, else its name."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    named = None if shell is None else shell.compile.format_code_name(file)
    return file if named is None else " ".join(named)
