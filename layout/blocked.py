"""Layouts for memory: consecutive lanes take consecutive vectors, warps what lies further out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache

from tilec.isa import LANES

from .linear import LayoutError, LinearLayout, log2
from .views import dims

_identity = LinearLayout.identity


@cache
def blocked_tile(
    shape: Sequence[int],
    vector: int,
    warps: int,
    *,
    fastest: int = -1,
    together: Collection[int] = frozenset(),
) -> LinearLayout:
    """A tile spread over the threads of a CTA so that each access is one piece of memory.

    A thread takes a vector along the fastest axis; the lanes go on along it, then along the
    others from the last on; the warps take the outermost axes first, and those that must stay
    together last. Registers repeat what is left; a tile of fewer vectors than threads is held
    more than once.

    Args:
        shape: extents of the tile, powers of two.
        vector: elements that a thread takes at once.
        warps: warps of the CTA.
        fastest: the axis that is contiguous in memory.
        together: axes that should stay in as few warps as possible, such as those reduced.

    Returns:
        (register, lane, warp) -> the tile's axes.

    Raises:
        LayoutError: for extents that are not powers of two, or a vector longer than its axis.
    """
    names = dims(len(shape))
    left = dict(zip(names, shape, strict=True))
    for name, extent in left.items():
        log2(extent, f"extent of {name}")
    first = names[fastest]
    if vector > left[first]:
        raise LayoutError(f"a vector of {vector} is longer than the {left[first]} of {first}")
    outwards = [*(name for name in names if name != first), first]
    inwards = outwards[::-1]
    outwards.sort(key=lambda name: names.index(name) in together)
    layout = _identity(vector, "register", first)
    left[first] //= vector
    for dim, count, order in (("lane", LANES, inwards), ("warp", warps, outwards)):
        for name in order:
            taken = min(left[name], count)
            layout *= _identity(taken, dim, name)
            left[name] //= taken
            count //= taken  # noqa: PLW2901 (what is left of the lanes or warps)
        layout *= LinearLayout.zeros(count, dim)
    for name in inwards:
        layout *= _identity(left[name], "register", name)
    return layout.reorder(("register", "lane", "warp"), names)
