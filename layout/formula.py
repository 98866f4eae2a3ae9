"""A layout as the index formulas that documentation and kernels write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from .linear import LinearLayout

if TYPE_CHECKING:
    from .repeated import Fragment


def formulas(layout: Fragment, names: Mapping[str, str] | None = None) -> dict[str, str]:
    """For each output an expression in the inputs, legal in Python and in C.

    Args:
        layout: any layout; what repeats is written alike, whatever the count.
        names: what to call inputs, where not by their own names.

    Returns:
        Such as `{"row": "(lane >> 2) + 8 * (i >> 1 & 1)"}`.
    """
    names = names or {}
    if not isinstance(layout, LinearLayout):
        layout = layout.over(1 << (layout.count - 1).bit_length())
    found = {}
    for position, (out, _) in enumerate(layout.outs):
        terms = sorted(_terms(layout, position, names), key=lambda term: term[1] & -term[1])
        reached = [reach for _, reach in terms]
        disjoint = sum(reached) == _union(reached)
        found[out] = (" + " if disjoint else " ^ ").join(text for text, _ in terms) or "0"
    return found


def _terms(
    layout: LinearLayout, position: int, names: Mapping[str, str]
) -> Iterator[tuple[str, int]]:
    """Terms of an output, and the bits that each can set: runs of input bits, scaled."""
    sizes = dict(layout.ins)
    for name, images in layout.bases.items():
        values = [image[position] for image in images]
        start = 0
        while start < len(values):
            end = start + 1
            while end < len(values) and values[end] == 2 * values[end - 1] != 0:
                end += 1
            scale = values[start]
            if scale:
                run = _bits(names.get(name, name), start, end, sizes[name])
                yield (run if scale == 1 else f"{scale} * {run}", _union(values[start:end]))
            start = end


def _bits(name: str, start: int, end: int, total: int) -> str:
    """Bits [start, end) of an input."""
    shifted = f"{name} >> {start}" if start else name
    if end < total:
        return f"({shifted} & {(1 << end - start) - 1})"
    return f"({shifted})" if start else name


def _union(values: list[int]) -> int:
    total = 0
    for value in values:
        total |= value
    return total
