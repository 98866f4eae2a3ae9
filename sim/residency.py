"""How many CTAs are in flight at once.

CTAs run in waves, in the order of their numbers; a wave ends when all its CTAs have. A wave
holds as many as make arrays large enough to be fast and small enough to stay in the cache. A
kernel whose CTAs may wait for each other gets as many as an H200 holds.
"""

from __future__ import annotations

from collections.abc import Iterable

from tilec.isa import LANES, target
from tilec.isa.targets import H200_SMS

from .placement import Placement
from .ptx.module import Function
from .traits import traits
from .wave import Geometry

WAVE_THREADS = 8192
WARPGROUP_THREADS = 4096
"""The same where warpgroups multiply: that takes so long that it is no slower in smaller waves,
which processes can share."""


def resident_ctas(placement: Placement, geometry: Geometry) -> int:
    """CTAs of a wave, at least one."""
    if _wait_for_each_other(placement.functions):
        sm = target("sm_90")
        shared = max(placement.shared_bytes, 1)
        fit = min(sm.warps_per_sm // geometry.warps, sm.shared_per_sm // shared, sm.ctas_per_sm)
        wanted = H200_SMS * max(fit, 1)
    else:
        most = min(WAVE_THREADS, WARPGROUP_THREADS) if placement.warpgroups else WAVE_THREADS
        wanted = max(most // (geometry.warps * LANES), 1)
    whole = -(-wanted // geometry.cluster_ctas) * geometry.cluster_ctas
    return min(whole, geometry.ctas)


def _wait_for_each_other(functions: Iterable[Function]) -> bool:
    """Whether CTAs may have to be in flight together for any of them to end."""
    return any(traits(i).polls for function in functions for i in function.body or ())
