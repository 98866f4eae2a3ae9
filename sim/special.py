"""Special registers. PTX ISA, "Special Registers"."""

from __future__ import annotations

import numpy as np
from tilec.isa import LANES

from .alu import Array
from .wave import Wave

_AXES = "xyz"
CLOCKS = {"%clock": 32, "%clock_hi": 32, "%clock64": 64, "%globaltimer": 64,
           "%globaltimer_lo": 32, "%globaltimer_hi": 32}  # fmt: skip

_BITS = {"%gridid": 64, "%lanemask_eq": 32, "%current_graph_exec": 64, "%is_explicit_cluster": 1}

_PLAIN = (
    "%laneid", "%warpid", "%nwarpid", "%smid", "%nsmid", "%gridid", "%lanemask_eq",
    "%lanemask_le", "%lanemask_lt", "%lanemask_ge", "%lanemask_gt", "%total_smem_size",
    "%aggr_smem_size", "%dynamic_smem_size", "%cluster_ctarank", "%cluster_nctarank",
    "%is_explicit_cluster",
)  # fmt: skip
_VECTORS = ("%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid",
            "%cluster_ctaid", "%cluster_nctaid")  # fmt: skip


WORKSPACE = ("%envreg1", "%envreg2")
"""The upper and the lower half of where the driver keeps the barrier of a cooperative launch."""


def is_special(name: str, component: str) -> bool:
    """Whether this is a special register that is known."""
    if component:
        return name in _VECTORS and component in _AXES
    numbered = ("%envreg", "%reserved_smem_offset_")
    return name in _PLAIN or name in CLOCKS or name.startswith(numbered)


def is_clock(name: str) -> bool:
    """Whether the register changes while a thread runs."""
    return name in CLOCKS


def bits(name: str) -> int:
    """Width of a special register."""
    return CLOCKS.get(name) or _BITS.get(name.partition(".")[0], 32)


def _u32(values: Array | int) -> Array:
    array = np.asarray(values)
    return (array if array.ndim == 3 else array.reshape(1, 1, -1)).astype(np.uint32)


def _split(index: Array, extents: tuple[int, int, int], axis: int) -> Array:
    x, y, _ = extents
    if extents[axis] == 1:
        return index[:1, :1, :1] * 0
    return (index % x, index // x % y, index // (x * y))[axis]


def clock(wave: Wave, name: str) -> Array:
    """A clock that counts steps; looking at it is one, so that it never stands still."""
    wave.steps += 1
    ticks = wave.steps
    if name.endswith("_hi"):
        ticks >>= 32
    width = CLOCKS[name]
    return np.full((1, 1, 1), ticks & ((1 << width) - 1), f"u{width // 8}")


def value(wave: Wave, name: str) -> Array:
    """A special register of all threads of the wave; vectors by component, as `%tid.x`."""
    geometry = wave.geometry
    ctas, warps, _ = wave.shape
    lane = np.arange(LANES).reshape(1, 1, LANES)
    one = np.uint64(1)
    base, _, component = name.partition(".")
    axis = _AXES.index(component) if component else 0
    thread = np.arange(warps * LANES).reshape(1, warps, LANES)
    cta = wave.numbers.reshape(ctas, 1, 1)
    bit = one << lane.astype(np.uint64)
    match base:
        case "%tid":
            return _u32(_split(thread, geometry.block, axis))
        case "%ntid":
            return _u32(geometry.block[axis])
        case "%ctaid" if geometry.cluster_ctas == 1:
            return _u32(_split(cta, geometry.grid, axis))
        case "%ctaid":
            first = _split(cta // geometry.cluster_ctas, geometry.clusters, axis)
            inside = _split(cta % geometry.cluster_ctas, geometry.cluster, axis)
            return _u32(first * geometry.cluster[axis] + inside)
        case "%clusterid":
            return _u32(_split(cta // geometry.cluster_ctas, geometry.clusters, axis))
        case "%nctaid":
            return _u32(geometry.grid[axis])
        case "%nclusterid":
            return _u32(geometry.clusters[axis])
        case "%cluster_ctaid":
            return _u32(_split(cta % geometry.cluster_ctas, geometry.cluster, axis))
        case "%cluster_ctarank":
            return _u32(cta % geometry.cluster_ctas)
        case "%cluster_nctaid":
            return _u32(geometry.cluster[axis])
        case "%cluster_nctarank":
            return _u32(geometry.cluster_ctas)
        case "%is_explicit_cluster":
            return np.full((1, 1, 1), geometry.explicit)
        case "%laneid":
            return _u32(lane)
        case "%warpid":
            return _u32(np.arange(warps).reshape(1, warps, 1))
        case "%nwarpid":
            return _u32(warps)
        case "%smid":
            return _u32(cta)
        case "%nsmid":
            return _u32(geometry.ctas)
        case "%lanemask_eq":
            return _u32(bit)
        case "%lanemask_lt":
            return _u32(bit - one)
        case "%lanemask_le":
            return _u32((bit << one) - one)
        case "%lanemask_gt":
            return _u32(~((bit << one) - one) & np.uint64(0xFFFFFFFF))
        case "%lanemask_ge":
            return _u32(~(bit - one) & np.uint64(0xFFFFFFFF))
        case "%total_smem_size" | "%aggr_smem_size":
            return _u32(wave.memory.shared_bytes)
        case "%dynamic_smem_size":
            return _u32(wave.dynamic_shared)
        case "%envreg1":
            return _u32(wave.memory.workspace >> 32)
        case "%envreg2":
            return _u32(wave.memory.workspace & 0xFFFFFFFF)
        case "%gridid":
            return np.zeros((1, 1, 1), np.uint64)
        case _:
            return _u32(0)
