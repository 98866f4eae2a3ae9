"""Which process works on what, and whether it still lives."""

from __future__ import annotations

import os
import socket
from functools import cache
from pathlib import Path


@cache
def _beginning(pid: int) -> str:
    """When this process began, which a later one with the same number did not."""
    return _started(pid)


def _started(pid: int) -> str:
    try:
        # The 22nd field, counted from behind the name, which may hold anything (proc(5)).
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return stat.rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def me() -> str:
    """What names this process among those of all machines."""
    pid = os.getpid()
    return f"{socket.gethostname()}/{pid}/{_beginning(pid)}"


def is_alive(owner: str) -> bool:
    """Whether a process lives; one of another machine is taken for alive."""
    parts = owner.rsplit("/", 2)
    if len(parts) != 3 or not parts[1].isdecimal():
        return False
    host, pid, began = parts
    if host != socket.gethostname():
        return True
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it lives, and is another user's
    now = _started(int(pid))
    return not now or now == began
