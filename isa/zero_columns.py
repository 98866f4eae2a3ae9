"""The mask behind `tcgen05.mma.ws` that says which columns of B count as 0.

PTX ISA 9.7.16.10.9.3, "Zero-column mask descriptor": 64 bits. Of D's columns each bank of lanes has
a part (`tilec.isa.tensor_shapes.banks`), and the mask is made for each part from its lowest column
on: runs of columns that B is used for and runs that count as 0 take turns.
"""

from __future__ import annotations

from dataclasses import dataclass

from .errors import TilecError
from .tensor_shapes import banks

_PARTS = 4
_BYTE = 8
_MOST_RUN = 256
_FIRST, _ENABLE, _SKIP, _USE, _SHIFT = 32, 39, 40, 48, 56
"""First bits of the fields behind the four bytes of `starts`."""
_SHIFT_BITS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ZeroColumns:
    """What the mask says.

    Attributes:
        used: columns of a run that B is used for, 1 to 256.
        zero: columns of a run that count as 0, likewise.
        starts: of each part, how many columns of the sequence are left out at its beginning.
        zero_first: of each part, whether the sequence begins with a run that counts as 0.
        shift: by how many columns B is moved: column c of the product is its column c + shift.
        enabled: whether any column counts as 0.

    Raises:
        TilecError: for what its bits do not hold.
    """

    used: int = 1
    zero: int = 1
    starts: tuple[int, int, int, int] = (0, 0, 0, 0)
    zero_first: tuple[bool, bool, bool, bool] = (False, False, False, False)
    shift: int = 0
    enabled: bool = True

    def __post_init__(self) -> None:
        limits = {"used": (self.used, 1, _MOST_RUN), "zero": (self.zero, 1, _MOST_RUN)}
        limits |= {f"starts {n}": (start, 0, 255) for n, start in enumerate(self.starts)}
        limits["shift"] = (self.shift, 0, (1 << _SHIFT_BITS) - 1)
        for name, (value, least, most) in limits.items():
            if not least <= value <= most:
                raise TilecError(f"{name} of a zero-column mask is {least} to {most}, not {value}")

    def encode(self) -> int:
        """The 64 bits."""
        word = sum(start << _BYTE * n for n, start in enumerate(self.starts))
        word |= sum(first << _FIRST + n for n, first in enumerate(self.zero_first))
        word |= self.enabled << _ENABLE | (self.zero - 1) << _SKIP
        return word | (self.used - 1) << _USE | self.shift << _SHIFT

    @classmethod
    def decode(cls, word: int) -> ZeroColumns:
        """What 64 bits say.

        Raises:
            TilecError: if bits are set that have no meaning.
        """
        one, two, three, four = (word >> _BYTE * n & 0xFF for n in range(_PARTS))
        first, second, third, fourth = (bool(word >> _FIRST + n & 1) for n in range(_PARTS))
        found = cls(
            used=(word >> _USE & 0xFF) + 1,
            zero=(word >> _SKIP & 0xFF) + 1,
            starts=(one, two, three, four),
            zero_first=(first, second, third, fourth),
            shift=word >> _SHIFT & (1 << _SHIFT_BITS) - 1,
            enabled=bool(word >> _ENABLE & 1),
        )
        if found.encode() != word:
            raise TilecError(
                f"zero-column mask {word:#018x}: bits {word ^ found.encode():#x} have no meaning"
            )
        return found

    def columns(self, m: int, n: int) -> tuple[bool, ...]:
        """Of each column of the product whether it counts as 0.

        Args:
            m: rows of D.
            n: columns of D.
        """
        if not self.enabled:
            return (False,) * n
        parts = banks(m, 1, stationary=True, sparse=False)
        width, period = n // parts, self.used + self.zero
        found: list[bool] = []
        for start, zero_first in zip(self.starts[:parts], self.zero_first[:parts], strict=True):
            ahead = self.used if zero_first else 0
            places = ((start + at + ahead) % period for at in range(width))
            found += [place >= self.used for place in places]
        return tuple(found)
