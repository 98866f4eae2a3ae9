"""A GPU of each generation, as far as a first estimate of a launch needs it.

NVIDIA's data sheets and white papers: A100 SXM 80 GB, GeForce RTX 3090, GeForce RTX 4090, H200,
B200 and GeForce RTX 5090. The clock is the boost clock.
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
        100: Gpu("B200", 148, 1.85e9, 8.0e12, 126 * _MIB),
        120: Gpu("RTX 5090", 170, 2.407e9, 1.792e12, 96 * _MIB),
    }
)
"""By the first architecture of those that they stand for."""


def gpu_of(target: Target) -> Gpu:
    """The GPU that stands for a target; of an architecture without one, that before it."""
    return _GPUS[max((n for n in _GPUS if n <= target.number), default=min(_GPUS))]
