"""A linear layout that repeats a number of times, be that a power of two or not.

What a warpgroup accumulates has N columns, eight to 256 in steps of eight: as many m64n8 tiles, one
after the other, each of them linear. Their count is an ordinary number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from .linear import LayoutError, LinearLayout

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .linear import IntegerArray


@dataclass(frozen=True, slots=True)
class RepeatedLayout:
    """A layout, `count` times: index i of `along` is index i mod n of unit i div n.

    Here n is the unit's size of `along`; the places of unit number u lie u times the unit's extent
    further in `onto`.

    Attributes:
        unit: what repeats, a bijection where the whole is one.
        count: how many units there are, at least one.
        along: the input that goes on from unit to unit.
        onto: the output that does.
    """

    unit: LinearLayout
    count: int
    along: str = "register"
    onto: str = "col"

    @property
    def in_sizes(self) -> dict[str, int]:
        """Size of each input dimension."""
        return _times(self.unit.in_sizes, self.along, self.count)

    @property
    def out_sizes(self) -> dict[str, int]:
        """Size of each output dimension."""
        return _times(self.unit.out_sizes, self.onto, self.count)

    @property
    def is_bijective(self) -> bool:
        """Whether indices and places correspond one to one."""
        return self.unit.is_bijective

    @property
    def linear(self) -> LinearLayout | None:
        """The same as one linear layout; None if the count is not a power of two."""
        if self.count & (self.count - 1):
            return None
        return self.over(self.count)

    def over(self, count: int) -> LinearLayout:
        """The linear layout of so many units.

        Raises:
            LayoutError: if `count` is not a power of two.
        """
        whole = self.unit * LinearLayout.identity(count, self.along, self.onto)
        return whole.reorder(tuple(self.unit.in_sizes), tuple(self.unit.out_sizes))

    @overload
    def __call__(self, **indices: int) -> tuple[int, ...]: ...  # type: ignore[overload-overlap] # integers alone give integers
    @overload
    def __call__(self, **indices: int | IntegerArray) -> tuple[NDArray[np.int64], ...]: ...
    def __call__(self, **indices: int | IntegerArray) -> tuple[int | NDArray[np.int64], ...]:
        """The place of an index: one number for each output, in their order.

        Indices are integers or integer numpy arrays; a dimension left out is 0.

        Raises:
            LayoutError: for a dimension that the layout does not have, or an index, given as an
                integer, beyond the last unit.
        """
        index = indices.pop(self.along, 0)
        size = self.unit.in_size(self.along)
        if isinstance(index, int) and not 0 <= index < size * self.count:
            raise LayoutError(f"no {self.along} {index}: there are {size * self.count}")
        unit = index // size
        given: dict[str, Any] = {**indices, self.along: index % size}
        places = self.unit(**given)
        extents = self.unit.out_sizes
        at = list(extents).index(self.onto)
        return (*places[:at], places[at] + unit * extents[self.onto], *places[at + 1 :])

    def inverse(self) -> RepeatedLayout:
        """From place to index.

        Raises:
            LayoutError: if the layout is not a bijection.
        """
        return RepeatedLayout(self.unit.inverse(), self.count, self.onto, self.along)

    def left_inverse(self) -> RepeatedLayout:
        """From each place that has an index to that index; from the others to any.

        Raises:
            LayoutError: if two indices share a place.
        """
        return RepeatedLayout(self.unit.left_inverse(), self.count, self.onto, self.along)

    def __str__(self) -> str:
        """`10 along register onto col of register [0,1] …; lane … -> row 64, col 8`."""
        return f"{self.count} along {self.along} onto {self.onto} of {self.unit}"


Fragment: TypeAlias = LinearLayout | RepeatedLayout
"""Who holds what of an operand."""


def _times(sizes: dict[str, int], name: str, count: int) -> dict[str, int]:
    return {one: size * count if one == name else size for one, size in sizes.items()}
