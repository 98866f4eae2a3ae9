"""What a kernel's Python depends on beside what it reads: who runs it."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from importlib.util import find_spec

import numpy as np


@cache
def versions() -> tuple[str, ...]:
    """Python, the machine, and the packages whose functions count as known."""
    spec = find_spec("ml_dtypes")
    status = os.stat(spec.origin) if spec and spec.origin else None
    types = (status.st_size, status.st_mtime_ns) if status else None
    optimized = sys.flags.optimize  # what becomes of assert, and __debug__
    return sys.version, platform.machine(), str(optimized), np.__version__, str(types)
