"""A Triton kernel that takes four arguments and does nothing."""

from __future__ import annotations

import triton


@triton.jit
def nothing(a, b, c, n):
    pass
