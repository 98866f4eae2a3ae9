"""How a reduction over warps is taken apart: what each warp combines, and what is brought together.

One answer for the pass that does it and for those that ask beforehand what room it will take.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from math import prod
from typing import NamedTuple

from tilec.layout import LinearLayout
from tilec.layout.gf2 import Echelon
from tilec.layout.reduction import Reduction, reduction
from tilec.layout.views import drop_dim, expand, reshape, transpose


class Split(NamedTuple):
    """Views that put the bits of an axis that a warp has in a dimension of their own.

    Attributes:
        parts: the shape in which neighbouring bits of one kind are a dimension.
        order: the permutation that lets those that warps tell apart go first.
        merged: the shape in which both kinds are one dimension each.
    """

    parts: tuple[int, ...]
    order: tuple[int, ...]
    merged: tuple[int, ...]


class Gathering(NamedTuple):
    """A reduction over warps.

    Attributes:
        axis: what is reduced.
        partials: warps that have a part of a sum each.
        own: the views under which a warp combines its part; None if it has nothing to combine.
        combines: whether a warp's part is combined before it goes on.
        before: the layout of what is brought together.
        after: the layout under which each thread has the parts of all warps.
    """

    axis: int
    partials: int
    own: Split | None
    combines: bool
    before: LinearLayout
    after: LinearLayout


@lru_cache(maxsize=1024)
def gathering(source: LinearLayout, axis: int) -> Gathering | None:
    """What a reduction of a tile takes; None if no two warps have parts of one sum.

    Args:
        source: (register, lane, warp) -> place, of the tile.
        axis: the dimension.
    """
    plan = reduction(source, axis)
    if plan.partials == 1:
        return None
    own = _own_bits(plan)
    split = _split(tuple(source.out_sizes.values()), axis, own) if own and any(own) else None
    before = source
    if split is not None:
        parts = transpose(reshape(source, split.parts), split.order)
        before = drop_dim(reshape(parts, split.merged), axis + 1)
    return Gathering(axis, plan.partials, split, own is not None, before, _gathered(before, plan))


def _own_bits(plan: Reduction) -> list[bool] | None:
    """For each bit of the axis, low to high, whether a warp has both its values.

    None where what a warp has is no matter of single bits.
    """
    within = Echelon(plan.within)
    own = [1 << bit in within for bit in range(plan.source.outs[plan.axis][1])]
    return own if sum(own) == within.rank else None


def _split(shape: tuple[int, ...], axis: int, own: Sequence[bool]) -> Split:
    runs = [(kind, 1 << len(list(bits))) for kind, bits in groupby(reversed(own))]
    order = sorted(range(len(runs)), key=lambda at: runs[at][0])
    before, after = shape[:axis], shape[axis + 1 :]
    others, whole = (prod(e for kind, e in runs if kind is k) for k in (False, True))
    return Split(
        (*before, *(extent for _, extent in runs), *after),
        (
            *range(axis),
            *(axis + at for at in order),
            *range(axis + len(runs), axis + len(runs) + len(after)),
        ),
        (*before, others, whole, *after),
    )


def _gathered(layout: LinearLayout, plan: Reduction) -> LinearLayout:
    """What is left of the axis in the registers of those who want the result."""
    extents = layout.out_sizes
    along = list(extents)[plan.axis]
    bits = range(extents[along].bit_length() - 1)
    parts = [[1 << bit if name == along else 0 for name in extents] for bit in bits]
    bases = expand(plan.result, plan.axis).bases
    return LinearLayout.of({**bases, "register": [*bases["register"], *parts]}, extents)
