"""The cores of this machine that a process may use."""

from __future__ import annotations

import os


def cores() -> int:
    """How many there are, at least one; on Linux those that its affinity leaves to the process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
