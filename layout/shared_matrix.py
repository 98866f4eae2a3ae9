"""A matrix in shared memory as wgmma and TMA see it: strides of its indices, then a swizzle.

Each index is split into digits, and each digit has a stride of its own; what they add up to is the
plain offset, whose bits the hardware's swizzle changes. Extents need not be powers of two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from tilec.isa.wording import counted

from .linear import LayoutError, LinearLayout
from .repeated import Fragment, RepeatedLayout
from .swizzle import CHUNK_BYTES, NO_SWIZZLE, SWIZZLES, Swizzle


class Digit(NamedTuple):
    """A digit of an index.

    Attributes:
        name: of the index.
        size: how many values it has.
        stride: bits from one to the next.
    """

    name: str
    size: int
    stride: int


@dataclass(frozen=True, slots=True)
class SharedMatrix:
    """Where each element of a matrix lies in shared memory.

    Attributes:
        bits: of an element.
        digits: of its indices, those of each from the lowest on.
        swizzle: what is done to plain byte offsets; one of `SWIZZLES`.
    """

    bits: int
    digits: tuple[Digit, ...]
    swizzle: Swizzle = NO_SWIZZLE

    @property
    def extents(self) -> dict[str, int]:
        """How far each index goes."""
        return dict(_extents(self.digits))

    @property
    def bytes(self) -> int:
        """Bytes from the first element to after the last."""
        last = sum((digit.size - 1) * digit.stride for digit in self.digits)
        return -(-(last + self.bits) // 8)

    @property
    def alignment(self) -> int:
        """Bytes that its start must be a multiple of, for the swizzle to fall as it is said here.

        PTX ISA 9.7.15.5.1: the pattern's own size, else what TMA and descriptors ask for.
        """
        return 128 * self.chunks if self.swizzle.bits else 128

    @property
    def chunks(self) -> int:
        """16-byte chunks among which the swizzle moves one."""
        return 1 << self.swizzle.bits

    @property
    def line(self) -> int:
        """Bytes within which the swizzle moves chunks: 16, 32, 64, or 128."""
        return CHUNK_BYTES * self.chunks

    def plain(self, index: str, value: int) -> int:
        """Bits from the first element to the one with this index, the other being 0, unswizzled.

        Raises:
            LayoutError: if there is no such element.
        """
        total, left = 0, value
        for digit in self.digits:
            if digit.name == index:
                left, own = divmod(left, digit.size)
                total += own * digit.stride
        if left:
            raise LayoutError(f"no {index} {value}: there are {self.extents.get(index, 1)}")
        return total

    def address(self, start: int = 0, **place: int) -> int:
        """The byte that an element lies in, or begins in.

        The swizzle is of absolute addresses: of what a start within it adds up to as well.

        Args:
            start: where the matrix starts.
            place: its indices.
        """
        return self.swizzle(start + sum(self.plain(name, at) for name, at in place.items()) // 8)

    @classmethod
    def panels(
        cls, extents: dict[str, int], bits: int, swizzle: Swizzle, contiguous: str
    ) -> SharedMatrix:
        """The matrix as copies by TMA fill it: panels as wide as the swizzle, one after another.

        Args:
            extents: its two indices and how far they go.
            bits: of an element.
            swizzle: one of `SWIZZLES`; without one panels are 16 bytes wide.
            contiguous: the index along which elements follow each other.

        Raises:
            LayoutError: if a panel is wider than the matrix, or not all are whole.
        """
        (other,) = (name for name in extents if name != contiguous)
        line = swizzle.line
        width = 8 * line // bits
        if extents[contiguous] % width:
            raise LayoutError(
                f"{counted(extents[contiguous], 'element')} of {counted(bits, 'bit')} along "
                f"{contiguous} are "
                "not a multiple "
                f"of {width}, the {counted(line, 'byte')} of a line with swizzle {swizzle}"
            )
        panel = 8 * line * extents[other]
        return cls(
            bits,
            (
                Digit(contiguous, width, bits),
                Digit(other, extents[other], 8 * line),
                Digit(contiguous, extents[contiguous] // width, panel),
            ),
            swizzle,
        )

    @classmethod
    def of(cls, layout: Fragment, bits: int) -> SharedMatrix:
        """The matrix that a layout of offsets puts into shared memory.

        Args:
            layout: offset, in elements -> place, a bijection, as of `shared_layout`; or one such
                that repeats along `offset`.
            bits: of an element.

        Raises:
            LayoutError: if that is not a swizzle of the hardware over plain strides.
        """
        unit = layout.unit if isinstance(layout, RepeatedLayout) else layout
        found = _of_linear(unit, bits)
        if not isinstance(layout, RepeatedLayout):
            return found
        # A swizzle that shows in the unit has all of its pattern there.
        size = (1 << sum(n for _, n in unit.ins)) * bits
        return cls(bits, (*found.digits, Digit(layout.onto, layout.count, size)), found.swizzle)


@cache
def _extents(digits: tuple[Digit, ...]) -> tuple[tuple[str, int], ...]:
    found: dict[str, int] = {}
    for digit in digits:
        found[digit.name] = found.get(digit.name, 1) * digit.size
    return tuple(found.items())


def _of_linear(layout: LinearLayout, bits: int) -> SharedMatrix:
    """The first of the hardware's swizzles under which every bit of an index has a plain stride."""
    offsets = layout.inverse()
    for swizzle in SWIZZLES.values():
        images = {
            name: [swizzle(image[0] * bits // 8) * 8 + image[0] * bits % 8 for image in of_index]
            for name, of_index in offsets.bases.items()
        }
        if all(image & (image - 1) == 0 for of_index in images.values() for image in of_index):
            digits = (digit for name, of in images.items() for digit in _digits(name, of))
            return SharedMatrix(bits, tuple(digits), swizzle)
    raise LayoutError(
        f"layout '{layout}' is not one of the swizzles {', '.join(SWIZZLES)} over plain strides"
    )


def _digits(name: str, images: list[int]) -> Iterator[Digit]:
    """Runs of bits of an index, each twice as far as the one before."""
    start = 0
    while start < len(images):
        end = start + 1
        while end < len(images) and images[end] == 2 * images[end - 1]:
            end += 1
        yield Digit(name, 1 << (end - start), images[start])
        start = end
