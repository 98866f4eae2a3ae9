"""What to say of a module that cannot be imported for want of memory, in one line."""

from __future__ import annotations

import re

_NO_ROOM = re.compile(r"(?i)failed to map|cannot (allocate|create|apply)")
"""What the loader says of a library that the address space has no room for."""

_LITTLE = 64 << 20
"""With fewer bytes of address space left, what an import raises is for want of memory."""


def no_room(error: BaseException) -> str | None:
    """That memory is short, and for which library; None if something else is wrong."""
    try:
        return _no_room(error)
    except MemoryError:  # there is not even enough to find out
        return "not enough memory"


def _no_room(error: BaseException) -> str | None:
    while error.__cause__ is not None:  # some packages say much of their own
        error = error.__cause__
    if isinstance(error, MemoryError):
        return "not enough memory"
    found = _NO_ROOM.search(str(error))
    if found:
        return f"not enough memory for {str(error).partition(':')[0]}"
    # An extension module that ignores a failed allocation ends in any exception, or in none.
    return "not enough memory" if _is_short() else None


def _is_short() -> bool:
    """Whether little is left of an address space that is limited; Linux says how much is used."""
    try:
        import resource  # noqa: PLC0415 (for errors only)

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except (ModuleNotFoundError, FileNotFoundError):  # another system
        return False
    except Exception:  # not even this had room
        return True
    left = limit - pages * resource.getpagesize()
    return limit != resource.RLIM_INFINITY and left < _LITTLE
