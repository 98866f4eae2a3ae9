"""Sets of small integers, such as granules of shared memory, as arrays in ascending order.

They are told apart by a table, which takes a fraction of the time of sorting or hashing them.
"""

from __future__ import annotations

import numpy as np

from ..alu import Array

_FEW, _SPARSE = 1024, 8
"""Elements of a table at least, and at most for each of the integers; else these are sorted."""


def distinct(values: Array) -> Array:
    """Integers of any shape, each once, (n,)."""
    if not values.size:
        return values.reshape(-1)
    low, high = int(values.min()), int(values.max())
    if high - low > max(_SPARSE * values.size, _FEW):
        found: Array = np.unique(values)
        return found
    there = np.zeros(high - low + 1, np.bool_)
    there[values - low] = True
    return np.flatnonzero(there) + low


def within(some: Array, others: Array) -> Array:
    """Which elements of one set are in another, of as many as the first."""
    if not some.size or not others.size or some[-1] < others[0] or others[-1] < some[0]:
        return np.zeros(some.size, np.bool_)
    at = np.searchsorted(others, some)
    found: Array = others.take(at, mode="clip") == some
    return found
