"""Tiles in shared memory: row by row, swizzled or not, as linear layouts.

A swizzle is CuTe's `Swizzle<B, M, S>`: B bits of the byte offset from bit M on are replaced by
their exclusive or with the B bits that lie S above them. The hardware's own (TMA, wgmma) are
those named by the bytes over which they repeat.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from tilec.isa import UnknownNameError
from tilec.isa.wording import counted

from .linear import LayoutError, LinearLayout, log2

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHUNK_BYTES = 16
"""What the hardware's swizzles keep together."""

Offsets = TypeVar("Offsets", int, "NDArray[np.int64]")


@dataclass(frozen=True, slots=True)
class Swizzle:
    """`Swizzle<bits, base, shift>` on byte offsets; it is its own inverse.

    Attributes:
        bits: how many bits of the offset it changes.
        base: the lowest of them.
        shift: how far above them lie the bits that are added; below them if negative.

    Raises:
        LayoutError: if the two groups of bits overlap.
    """

    bits: int
    base: int
    shift: int

    def __post_init__(self) -> None:
        if self.bits < 0 or self.base + min(self.shift, 0) < 0:
            raise LayoutError(f"swizzle<{self.bits},{self.base},{self.shift}> has negative bits")
        if abs(self.shift) < self.bits:
            raise LayoutError(
                f"swizzle<{self.bits},{self.base},{self.shift}> XORs bits with themselves; "
                f"its shift must be at least {self.bits}"
            )

    @property
    def line(self) -> int:
        """Bytes of a line, beyond which the hardware's swizzles move nothing: 16, 32, 64 or 128."""
        return CHUNK_BYTES << self.bits

    @classmethod
    def parse(cls, text: str) -> Swizzle:
        """Read `none`, `32B`, `64B`, `128B` or `swizzle<B,M,S>`.

        Raises:
            UnknownNameError: for anything else.
        """
        match = re.fullmatch(r"swizzle<\s*(\d+)\s*,\s*(\d+)\s*,\s*(-?\d+)\s*>", text)
        if match:
            return cls(*(int(n) for n in match.groups()))
        if text not in SWIZZLES:
            raise UnknownNameError("swizzle", text, [*SWIZZLES, "swizzle<B,M,S>"])
        return SWIZZLES[text]

    def __str__(self) -> str:
        for name, swizzle in SWIZZLES.items():
            if swizzle == self:
                return name
        return f"swizzle<{self.bits},{self.base},{self.shift}>"

    def __call__(self, offset: Offsets) -> Offsets:
        """Where the byte at `offset` of the plain tile lies; of an array, where each lies."""
        mask = ((1 << self.bits) - 1) << self.base
        moved = offset >> self.shift if self.shift >= 0 else offset << -self.shift
        return offset ^ moved & mask

    def layout(self, size: int, bits: int) -> LinearLayout:
        """The swizzle of a tile: offset -> offset, both in elements.

        Args:
            size: elements of the tile; its offsets are below.
            bits: bits of an element.

        Raises:
            LayoutError: if it would take elements apart.
        """
        unit = log2(bits, "bits of an element")
        if self.bits and 8 << self.base + min(self.shift, 0) < bits:
            raise LayoutError(f"{self} takes elements of {counted(bits, 'bit')} apart")
        in_bits = Swizzle(self.bits, self.base + 3, self.shift)
        count = log2(size, "elements of the tile")
        dims = (("offset", count),)
        columns = ((in_bits(1 << bit + unit) >> unit) % size for bit in range(count))
        return LinearLayout(dims, dims, tuple(columns))


NO_SWIZZLE = Swizzle(0, 4, 3)

SWIZZLES: Mapping[str, Swizzle] = MappingProxyType(
    {
        "none": NO_SWIZZLE,
        "32B": Swizzle(1, 4, 3),
        "64B": Swizzle(2, 4, 3),
        "128B": Swizzle(3, 4, 3),
    }
)
"""The hardware's swizzles: 16-byte chunks over 2, 4 or 8 rows of 128 bytes in all."""


def shared_layout(
    shape: Mapping[str, int],
    bits: int,
    swizzle: Swizzle = NO_SWIZZLE,
    order: Sequence[str] | None = None,
) -> LinearLayout:
    """A tile in shared memory: offset, in elements -> place.

    Args:
        shape: the tile's dimensions and sizes, as outputs in this order.
        bits: bits of an element.
        swizzle: applied to the offset in the plain tile.
        order: the dimensions from the fastest on; by default the last of `shape` is.

    Raises:
        LayoutError: for sizes that are not powers of two, an order that is not of the tile's
            dimensions, or a swizzle that takes elements apart.
    """
    order = list(shape)[::-1] if order is None else order
    if sorted(order) != sorted(shape):
        raise LayoutError(
            f"order ({', '.join(order)}) does not name the tile's dimensions ({', '.join(shape)})"
        )
    dims = tuple((name, log2(shape[name], f"size of '{name}'")) for name in order)
    places = tuple(1 << bit for bit in range(sum(bits for _, bits in dims)))
    plain = LinearLayout((("offset", len(places)),), dims, places).reorder(["offset"], list(shape))
    return plain if swizzle == NO_SWIZZLE else swizzle.layout(1 << len(places), bits).then(plain)
