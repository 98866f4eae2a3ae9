"""How many processes simulate a launch."""

from __future__ import annotations

import os
import sys

from ..native.choice import cores, number

PROCESSES = "TILEC_SIM_PROCESSES"
"""Environment variable that says how many; by default one for each core."""
_XDIST = "PYTEST_XDIST_WORKER_COUNT"
"""Set in a worker of pytest-xdist: how many there are."""


def processes() -> int:
    """How many may simulate one launch, this one included.

    Raises:
        LaunchError: if the environment says something else than a number from 1 on.
    """
    count = number(PROCESSES, "processes") or _spare()
    return count if _can_start() else 1


def _spare() -> int:
    """Cores that are this process's alone, as far as can be seen, at least one."""
    children = sys.modules.get("multiprocessing.process")
    if children is not None and children.parent_process() is not None:
        return 1  # whoever started it has others compute too
    beside = os.environ.get(_XDIST, "")
    return max(cores() // max(int(beside), 1), 1) if beside.isdecimal() else cores()


def _can_start() -> bool:
    """Whether this process can start others that run Python."""
    if os.name != "posix" or getattr(sys, "frozen", False):
        return False
    # Not by pathlib, whose import takes 5 ms.
    return os.path.basename(sys.executable or "").startswith(("python", "pypy"))
