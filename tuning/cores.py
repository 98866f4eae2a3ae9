"""The cores of this machine, and when candidates are compiled on all of them unasked."""

from __future__ import annotations

import os
from importlib.util import find_spec

MANY = 8
"""Cores that are many: from so many on candidates go to a cluster of this machine unasked."""
EACH = 4
"""Candidates for each core below which starting the cluster takes longer than it spares."""
_NEEDED = ("distributed", "cryptography")


def cores() -> int:
    """How many there are, at least one; on Linux those that its affinity leaves to the process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def many_cores(candidates: int) -> int:
    """Processes of a Dask cluster of this machine that are started unasked; 0 for no cluster.

    It is one for each core of those that affinity and cgroups leave, where these are `MANY`, there
    is work for them, and Dask is installed with cryptography, so that no other user of the machine
    can speak to it.

    Args:
        candidates: those that are not known.
    """
    if cores() < MANY or not all(find_spec(name) for name in _NEEDED):
        return 0
    from dask.system import cpu_count  # noqa: PLC0415 (of the extra `dask`)

    count = min(cores(), int(cpu_count()))
    return count if count >= MANY and candidates >= EACH * count else 0
