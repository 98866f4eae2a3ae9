"""Which tilec this is, and since when this process has it."""

from __future__ import annotations

import time

__version__ = "0.1.0"

imported = time.time()
"""When this process began to import tilec: code that changed later is not what it runs."""
