"""Elements taken from other places along one axis of a tile, by the bits of their index.

A warp does that on its own where each bit of the index is one of a register's or of a lane's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .linear import LayoutError, LinearLayout


class Taking(NamedTuple):
    """How a warp takes elements: element i of the result is element `(i & keep) ^ flip`.

    Attributes:
        registers: of each register of the result, the source's that it comes from.
        keep: the bits of a lane's number that are kept.
        flip: those that are then changed; from lane `(lane & keep) ^ flip` the register comes.
    """

    registers: tuple[int, ...]
    keep: int
    flip: int


@lru_cache(maxsize=1024)
def stays_in_warp(layout: LinearLayout, axis: int) -> bool:
    """Whether each bit of the index along an axis is one bit of a register's or lane's number."""
    return _owners(layout, axis) is not None


@lru_cache(maxsize=1024)
def kept_in_warp(layout: LinearLayout, axis: int) -> LinearLayout:
    """The layout with what warps have of an axis in registers instead: all of it in each warp.

    Raises:
        LayoutError: if bits of the index are not bits of registers or lanes even so.
    """
    bases = {name: list(images) for name, images in layout.bases.items()}
    none = (0,) * len(layout.outs)
    warps = bases.get("warp", [])
    bases["register"] += [image for image in warps if image[axis]]
    if warps:
        bases["warp"] = [none if image[axis] else image for image in warps]
    found = LinearLayout.of(bases, layout.out_sizes)
    if not stays_in_warp(found, axis):
        raise LayoutError(f"layout '{layout}' mixes bits of dimension {axis}'s index")
    return found


@lru_cache(maxsize=1024)
def taking(layout: LinearLayout, axis: int, keep: int, flip: int) -> Taking:
    """How elements are taken along an axis of a tile of which `stays_in_warp` holds.

    Args:
        layout: (register, lane, …) -> place, of source and result.
        axis: the axis.
        keep: bits of the index along it that are kept.
        flip: those that are then changed.

    Raises:
        LayoutError: for another layout.
    """
    owners = _owners(layout, axis)
    if owners is None:
        raise LayoutError(f"layout '{layout}' spreads axis {axis} over warps, or mixes its bits")
    lost, changed = {"register": 0, "lane": 0}, {"register": 0, "lane": 0}
    for bit, (owner, number) in enumerate(owners):
        if not keep >> bit & 1:
            lost[owner] |= 1 << number
        if flip >> bit & 1:
            changed[owner] |= 1 << number
    count = layout.in_size("register")
    registers = tuple((r & ~lost["register"]) ^ changed["register"] for r in range(count))
    lanes = layout.in_size("lane") - 1
    return Taking(registers, lanes & ~lost["lane"], changed["lane"])


def _owners(layout: LinearLayout, axis: int) -> list[tuple[str, int]] | None:
    """Of each bit of the index along an axis the input and the bit of it that sets it."""
    bits = layout.outs[axis][1]
    found: dict[int, tuple[str, int]] = {}
    for name, images in layout.bases.items():
        for number, image in enumerate(images):
            along = image[axis]
            if not along:
                continue
            bit = along.bit_length() - 1
            others = any(value for at, value in enumerate(image) if at != axis)
            if name == "warp" or along != 1 << bit or bit in found or others:
                return None
            found[bit] = (name, number)
    return [found[bit] for bit in range(bits)] if len(found) == bits else None
