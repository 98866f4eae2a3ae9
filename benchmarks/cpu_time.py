"""CPU time of processes and of those that they start: steadier than a clock on a shared machine.

Linux has what this needs; elsewhere times are zero.
"""

from __future__ import annotations

import ctypes
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Have processes whose parents end become children of this one, so that they can be timed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def of_ended() -> float:
    """CPU seconds of all children that have ended, once there are no others."""
    if sys.platform != "linux":
        return 0.0
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_living(process: int) -> float:
    """CPU seconds so far of a process and of its living descendants."""
    total = 0.0
    for task in Path(f"/proc/{process}/task").glob("*"):
        with suppress(OSError):
            total += int((task / "schedstat").read_text().split()[0]) / 1e9
            total += sum(map(of_living, map(int, (task / "children").read_text().split())))
    return total
