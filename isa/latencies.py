"""How long an instruction takes, by generation, as far as a first estimate of a launch needs it.

Lanes are results of a cycle and SM, as the CUDA Programming Guide's table of the throughput of
native arithmetic instructions has them. Latencies are cycles from the issue to the result of one
warp whose next instruction needs it. Where they come from:

- L1, L2 and DRAM: measured by pointer chasing (github.com/markdewing/AI_kernels, latency/README.md)
  on a GH200, an RTX 4090, an RTX 5090 and a B200; of an A100, L2 and DRAM by table 3 of
  pmc.ncbi.nlm.nih.gov/articles/PMC10448217, and the L1 of a V100. An RTX 3090 is taken for the
  like of an A100.
- Arithmetic and shared memory: the same table, which gives 4 and 20 for an A100 and an H100; others
  are taken for the like.
- The rest are orders of magnitude, taken alike everywhere: 16 cycles beyond the time that tensor
  cores are busy with a product, and likewise for special functions and f64; 20 from the last
  arrival at a barrier to the next instruction.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from .targets import Target


class Latencies(NamedTuple):
    """What instructions of an SM take, in cycles, and how many results it gives in a cycle.

    Attributes:
        float32_lanes, float64_lanes, integer_lanes, special_lanes: results of a cycle.
        l1, l2, dram: from asking for bytes that lie there to having them.
        arithmetic: of f32, of halves and of integers.
        shared: of loads from shared memory and of shuffles.
        deep: of f64, special functions and products, beyond the cycles that a unit is busy.
        barrier: from the last arrival to the next instruction.
    """

    float32_lanes: int
    float64_lanes: int
    integer_lanes: int
    special_lanes: int
    l1: int
    l2: int
    dram: int
    arithmetic: int = 4
    shared: int = 20
    deep: int = 16
    barrier: int = 20


_LATENCIES: Mapping[int, Latencies] = MappingProxyType(
    {
        80: Latencies(64, 32, 64, 16, 36, 200, 400),
        86: Latencies(128, 2, 64, 16, 36, 200, 400),
        89: Latencies(128, 2, 64, 16, 40, 296, 636),
        90: Latencies(128, 64, 64, 16, 40, 281, 690),
        100: Latencies(128, 64, 64, 16, 40, 295, 860),
        120: Latencies(128, 2, 128, 16, 44, 360, 936),
    }
)
"""By the first architecture of those that have them."""


def latencies(target: Target) -> Latencies:
    """Those of an SM; of an architecture without its own, those of the one before it."""
    return _LATENCIES[max((n for n in _LATENCIES if n <= target.number), default=min(_LATENCIES))]
