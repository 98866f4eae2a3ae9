"""How many workers the machine's memory has room for."""

from __future__ import annotations

import os
from pathlib import Path

_EACH = 200 << 20
"""Bytes that a worker takes besides global memory."""
_TIMES = 2
"""Times that a worker has global memory at most: its bytes, and what the checks keep of them."""
_PART = 2
"""Of so many bytes that are free, workers take one at most."""
_SAYS = Path("/proc/meminfo")


def workers_at_most(size: int) -> int:
    """How many workers have room for a launch.

    Args:
        size: bytes of global memory.
    """
    left = _free() // _PART - size  # the snapshot
    return max(left // (_EACH + _TIMES * size), 0)


def _free() -> int:
    """Bytes that programs can have without any being moved out, as far as the system tells."""
    if _SAYS.exists():
        for line in _SAYS.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) << 10
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // _PART
