"""What an SM does in a clock cycle, by generation, as far as decisions of passes need it.

Rates of matrix instructions are NVIDIA's for dense products (white papers of A100, H100 and
RTX Blackwell); that of `tcgen05.mma` is half of the 8192 FLOPs a clock that `gpus` has for a B200;
that of `mma.sync` on sm_90 is what others have measured of it, 0.62 of `wgmma`'s (arXiv 2402.13499,
table 7). Bytes from L2 are the lesser of what an SM takes and its share of what L2 gives, as
DeepGEMM's cost model has it: 8e6 bytes in 1,300 cycles for 132 SMs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from .targets import H200_SMS, Target

SHARED_BYTES = 128
"""Bytes that shared memory gives or takes in a cycle: a word of each bank."""
_BITS = 16
"""Bits of the elements for which rates of products are given."""


class Rates(NamedTuple):
    """What an SM does in a cycle.

    Attributes:
        wgmma: products of 16-bit elements by `wgmma`, each with its addition; 0 where it is not.
        mma: the same by `mma.sync`.
        l2_bytes: bytes from L2, where all SMs take as many.
        tcgen05: products of 16-bit elements by `tcgen05.mma`; 0 where it is not.
    """

    wgmma: int
    mma: int
    l2_bytes: float
    tcgen05: int = 0

    def in_tensor_memory(self, bits: int) -> float:
        """Products of elements by `tcgen05.mma`, each with its addition.

        Args:
            bits: of an element; 32 of tf32.
        """
        return self.tcgen05 * _BITS / bits

    def products(self, *, of_warpgroups: bool, bits: int) -> float:
        """Products of elements, each with its addition.

        Args:
            of_warpgroups: whether by `wgmma`, or by `mma.sync`.
            bits: of an element; 32 of tf32, whose rate is half that of 16 bits.
        """
        return (self.wgmma if of_warpgroups else self.mma) * _BITS / bits


_SHARE = 8e6 / 1300 / H200_SMS
_RATES: Mapping[int, Rates] = MappingProxyType(
    {
        80: Rates(0, 1024, 40.0),
        86: Rates(0, 512, 40.0),
        89: Rates(0, 512, 40.0),
        90: Rates(2048, 1270, min(64.0, _SHARE)),
        100: Rates(0, 1024, min(64.0, _SHARE), 4096),
        120: Rates(0, 512, 40.0),
    }
)
"""By the first architecture of those that have them."""


def rates(target: Target) -> Rates:
    """The rates of an SM; of an architecture without its own, those of the one before it.

    Before sm_80 those of sm_80.
    """
    return _RATES[max((n for n in _RATES if n <= target.number), default=min(_RATES))]
