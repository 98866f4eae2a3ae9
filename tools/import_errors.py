"""What to say of a module that cannot be imported, in one line."""

from __future__ import annotations

import re

_NO_ROOM = r"(?i)failed to map|cannot (allocate|create|apply)"
"""What the loader says of a library that the address space has no room for."""


def no_room(error: BaseException) -> str | None:
    """That memory is short, and for which library; None if something else is wrong."""
    while error.__cause__ is not None:  # some packages say much of their own
        error = error.__cause__
    if isinstance(error, MemoryError):
        return "not enough memory"
    found = re.search(_NO_ROOM, str(error))
    return f"not enough memory for {str(error).partition(':')[0]}" if found else None
