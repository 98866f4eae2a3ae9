"""The matrix descriptor of `tcgen05.mma` and `tcgen05.cp`: where an operand lies in shared memory.

PTX ISA 9.7.16.4.1, "Shared memory descriptor": 64 bits. It is wgmma's but for bits 46 to 48, where
it says its version, and bits 61 to 63, which are the swizzle's.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

from .errors import TilecError

SWIZZLE_CODES = MappingProxyType({"none": 0, "128B.32B": 1, "128B": 2, "64B": 4, "32B": 6})
"""Codes of the swizzles; `128B.32B` moves pieces of 32 bytes within 128, the others of 16."""
_VERSION = 1
_UNIT = 16
"""Bytes in which places are counted."""
REACH = 1 << 18
"""Bytes that a descriptor tells apart."""


@dataclass(frozen=True, slots=True)
class MatrixDescriptor:
    """What a descriptor says.

    Attributes:
        start: byte address of the first element in shared memory.
        leading: leading dimension byte offset; with `absolute`, a byte address.
        stride: stride dimension byte offset.
        swizzle: one of `SWIZZLE_CODES`.
        base_offset: bits 7 to 9 of where the swizzle's pattern starts; 0 if that is a multiple of
            the pattern's size.
        absolute: whether `leading` is the address of the second chunk (sm_103a).

    Raises:
        TilecError: for what its bits do not hold.
    """

    start: int
    leading: int
    stride: int
    swizzle: str = "none"
    base_offset: int = 0
    absolute: bool = False

    def __post_init__(self) -> None:
        for name in ("start", "leading", "stride"):
            value: int = getattr(self, name)
            if value % _UNIT or not 0 <= value < REACH:
                raise TilecError(f"a {name} of {value} is not a multiple of {_UNIT} below {REACH}")
        if self.swizzle not in SWIZZLE_CODES:
            legal = ", ".join(SWIZZLE_CODES)
            raise TilecError(f"unknown swizzle '{self.swizzle}'; legal: {legal}")
        if self.base_offset not in range(8):
            raise TilecError(f"a base offset of {self.base_offset} is not one of 0 to 7")

    def encode(self) -> int:
        """The 64 bits."""
        low = self.start >> 4 | self.leading >> 4 << 16 | self.stride >> 4 << 32
        high = self.base_offset << 49 | int(self.absolute) << 52
        return low | _VERSION << 46 | high | SWIZZLE_CODES[self.swizzle] << 61

    @classmethod
    def decode(cls, word: int) -> MatrixDescriptor:
        """What 64 bits say.

        Raises:
            TilecError: if they are of another version, or their swizzle has no meaning.
        """
        if word >> 46 & 7 != _VERSION:
            raise TilecError(
                f"matrix descriptor {word:#018x} has {word >> 46 & 7} in bits 46 to 48, "
                f"not {_VERSION}"
            )
        code = word >> 61
        name = next((name for name, own in SWIZZLE_CODES.items() if own == code), None)
        if name is None:
            raise TilecError(f"matrix descriptor {word:#018x} has swizzle {code}; legal: 0 1 2 4 6")
        start, leading, stride = ((word >> at & 0x3FFF) << 4 for at in (0, 16, 32))
        found = cls(start, leading, stride, name, word >> 49 & 7, bool(word >> 52 & 1))
        if found.encode() != word:
            raise TilecError(
                f"matrix descriptor {word:#018x}: bits {word ^ found.encode():#x} have no meaning"
            )
        return found

    def advanced(self, count: int) -> MatrixDescriptor:
        """The same, starting a number of bytes on: the next step along K within a line."""
        return replace(self, start=self.start + count)
