"""How many CTAs are in flight at once.

CTAs run in waves, in the order of their numbers; a wave ends when all its CTAs have. A wave
holds as many as make arrays large enough to be fast and small enough to stay in the cache. A
kernel whose CTAs may wait for each other (it loads with `.acquire`, `.volatile` or
`.relaxed`, or compares and swaps, in global memory) gets as many as an H200 holds: 132
multiprocessors with 2048 threads and 228 KiB of shared memory each.
"""

from __future__ import annotations

from .machine import Geometry
from .placement import Placement
from .survey import waits_for_ctas

WAVE_THREADS = 8192
SMS = 132
SM_THREADS = 2048
SM_CTAS = 32
SM_SHARED = 228 * 1024


def resident_ctas(placement: Placement, geometry: Geometry) -> int:
    """CTAs of a wave, at least one."""
    threads = geometry.warps * 32
    if waits_for_ctas(placement.functions):
        shared = max(placement.shared_bytes, 1)
        each = min(SM_THREADS // threads, SM_SHARED // shared, SM_CTAS)
        wanted = SMS * max(each, 1)
    else:
        wanted = max(WAVE_THREADS // threads, 1)
    return min(wanted, geometry.ctas)
