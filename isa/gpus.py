"""A GPU of each generation, as far as a first estimate of a launch needs it.

The clock is the boost clock where NVIDIA names one: a GPU under load of its tensor cores often runs
below it. Where each figure comes from:

- A100 SXM4 80 GB. 108 SMs, 1410 MHz and 40 MB of L2 by CUDA's deviceQuery of a 40 GB one
  (upb-pc2.atlassian.net, "NVIDIA A100 40GB with NVLINK") and TechPowerUp; 2039 GB/s by NVIDIA's
  data sheet 1758950, as glennklockwood.com/garden/processors/A100 has it.
- RTX 3090 and RTX 4090. NVIDIA's table for reviewers (kitguru.net, "Nvidia RTX 4090 Founders
  Edition review"): 82 and 128 SMs, 1695 and 2520 MHz, 936 and 1008 GB/s, 6144 KB and 72 MB of L2.
- H200 SXM. 4.8 TB/s by NVIDIA's data sheet; 132 SMs and 1980 MHz are the H100 SXM5's, whose die it
  has (glennklockwood.com/garden/processors/h100, and hmc-tech.com for the H200 SXM). The L2 is the
  H100's as well, 50 MB, which no source says of an H200. The die has 60 MB with 12 memory
  controllers (chipsandcheese.com, "Nvidia's H100: Funny L2"), of which an H100 uses 10 and an H200
  12, with 96 slices of L2 (github.com/accel-sim/accel-sim-framework/issues/534): it may be 60 MB.
- B200. What CUDA says of one (github.com/pytorch/ao/pull/4002): 148 SMs, 126.5 MB of L2, and 7680
  bits of memory at 3996 MHz, which are 7.67 TB/s, where the data sheet says 8; the SMs also by
  chipsandcheese.com, "Nvidia's B200", which says that its clocks are much like an H100 SXM5's.
  hmc-tech.com has 1.98 GHz of boost and 1.86 with tensor cores; 1.85 is what NVIDIA's 2.25 PFLOPS
  of dense f16 are at 8192 a clock and SM. No measurement confirms it.
- RTX 5090. 170 SMs, 2407 MHz, 1792 GB/s and 96 MB of L2 by Linux Format's review of May 2025.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from .targets import H200_SMS, Target


class Gpu(NamedTuple):
    """A GPU.

    Attributes:
        name: its name.
        sms: SMs.
        hertz: clock cycles in a second.
        dram_bytes: bytes from DRAM in a second.
        l2_bytes: bytes that L2 holds.
    """

    name: str
    sms: int
    hertz: float
    dram_bytes: float
    l2_bytes: int


_MIB = 1 << 20
_GPUS: Mapping[int, Gpu] = MappingProxyType(
    {
        80: Gpu("A100", 108, 1.41e9, 2.039e12, 40 * _MIB),
        86: Gpu("RTX 3090", 82, 1.695e9, 0.936e12, 6 * _MIB),
        89: Gpu("RTX 4090", 128, 2.52e9, 1.008e12, 72 * _MIB),
        90: Gpu("H200", H200_SMS, 1.98e9, 4.8e12, 50 * _MIB),
        100: Gpu("B200", 148, 1.85e9, 7.672e12, 253 * _MIB // 2),
        120: Gpu("RTX 5090", 170, 2.407e9, 1.792e12, 96 * _MIB),
    }
)
"""By the first architecture of those that they stand for."""


def gpu_of(target: Target) -> Gpu:
    """The GPU that stands for a target; of an architecture without one, that before it."""
    return _GPUS[max((n for n in _GPUS if n <= target.number), default=min(_GPUS))]
