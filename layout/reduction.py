"""How a dimension of a distributed tile is reduced: who must combine what with whom.

The elements that go into one element of the result form a coset, so whatever is true of one is
true of all: the registers of a lane to combine, the lanes to exchange with, the warps that
share the rest, are bases of vector spaces over GF(2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .gf2 import Echelon, combine
from .linear import LinearLayout
from .views import collapse, drop_dim


class Exchange(NamedTuple):
    """A step of a reduction: each lane combines what it has with what another has.

    Attributes:
        mask: lane i reads lane i ^ mask.
        registers: for register r of the result it reads register r ^ registers.
    """

    mask: int
    registers: int


class Reduction(NamedTuple):
    """A reduction of `source` to `result`, which is `drop_dim(source, axis)`.

    Copies of an element are combined once only.

    Attributes:
        source: (register, lane, …) -> place.
        result: the same of what is left.
        axis: the dimension reduced.
        kept: register of the result -> a register of the source that goes into it.
        registers: differences of registers of the source: register r of the result is what
            `kept(r)` changed by every sum of these combines to.
        exchanges: what a warp does next, in this order.
        within: differences along the axis that a warp combines so.
        across: differences along the axis that one warp has from others, beyond those.
    """

    source: LinearLayout
    result: LinearLayout
    axis: int
    kept: LinearLayout
    registers: tuple[int, ...]
    exchanges: tuple[Exchange, ...]
    within: tuple[int, ...]
    across: tuple[int, ...]

    @property
    def partials(self) -> int:
        """Warps that each have a part of an element of the result."""
        return 1 << len(self.across)


@lru_cache(maxsize=1024)
def reduction(source: LinearLayout, axis: int) -> Reduction:
    """How to reduce dimension `axis` of a tile.

    Args:
        source: (register, lane, …) -> place, where further inputs tell warps apart.
        axis: the dimension.

    Raises:
        LayoutError: for a dimension that the layout does not have.
    """
    rest = collapse(source, [axis])
    registers, lanes = source.columns_of("register"), source.columns_of("lane")
    others = [name for name, _ in source.ins if name not in ("register", "lane")]
    warps = [column for name in others for column in source.columns_of(name)]
    places = [*registers, *lanes, *warps]
    left = Echelon(
        column for name in ("register", "lane", *others) for column in rest.columns_of(name)
    )
    # Indices whose elements go where those of index 0 go, registers first, then lanes, warps; of
    # those the ones that bring elements not yet had.
    had = Echelon()
    fresh = [index for index in left.kernel if had.add(combine(index, places))]
    along = [source.outs[at][1] for at in range(axis)]
    displaced = {index: combine(index, places) >> sum(along) for index in fresh}

    low, high = len(registers), len(registers) + len(lanes)
    mine = [index for index in fresh if index < 1 << low]
    lanewise = [index for index in fresh if 1 << low <= index < 1 << high]
    across = [index for index in fresh if index >= 1 << high]
    result = drop_dim(source, axis)
    distinct = Echelon()
    kept = [1 << bit for bit, c in enumerate(rest.columns_of("register")) if distinct.add(c)]
    return Reduction(
        source=source,
        result=result,
        axis=axis,
        kept=LinearLayout((("register", len(kept)),), (("register", low),), tuple(kept)),
        registers=tuple(mine),
        exchanges=tuple(
            Exchange(
                index >> low, sum(1 << at for at, register in enumerate(kept) if index & register)
            )
            for index in lanewise
        ),
        within=tuple(displaced[index] for index in (*mine, *lanewise)),
        across=tuple(displaced[index] for index in across),
    )
