"""Operands of instructions as matrices, whatever the selectors; what a tile of them repeats."""

from __future__ import annotations

from functools import cache
from types import MappingProxyType

from tilec.isa import Form

from .fragments import fragment_of
from .linear import LinearLayout

INDICES = MappingProxyType(
    {"a": "mk", "b": "kn", "c": "mn", "d": "mn", "e": "mk", "sfa": "mk", "sfb": "kn"}
)
"""What rows and columns of each operand of an `mma` count: M, N or K of the product."""


@cache
def operand_layout(form: Form, name: str) -> LinearLayout:
    """The layout of an operand's fragment.

    Metadata and scale factors are taken as the matrices for several instructions that they
    are, of which the selectors pick a part: `e` holds the codes of one selector after those
    of the other, along its columns; `sfa` the scales of one thread id below those of the
    other, and those of byte id b from column b on; `sfb` the same across.

    Returns:
        (register, lane, …) -> place, as of `tilec.layout.fragment_of`, of rank 2 for those.
    """
    layout = fragment_of(form, name)
    match name:
        case "e":
            return _joined(layout, col="selector")
        case "sfa":
            return _joined(layout, row="thread_id_a", col="byte_id_a")
        case "sfb":
            return _joined(layout, row="byte_id_b", col="thread_id_b")
    return layout


def _joined(layout: LinearLayout, **further: str) -> LinearLayout:
    """The layout with outputs (row, col), each taking in another one, its high part."""
    sizes = layout.out_sizes
    at = {name: number for number, name in enumerate(sizes)}
    extents = {}
    for name in ("row", "col"):
        other = further.get(name)
        if other is None:
            extents[name] = sizes[name]
        elif other.startswith("byte_id"):
            # A byte id counts bytes, as the chunks that it leads to do.
            extents[name] = max(sizes[name], sizes[other])
        else:
            extents[name] = sizes[name] * sizes[other]

    def place(image: tuple[int, ...], name: str) -> int:
        other = further.get(name)
        if other is None:
            return image[at[name]]
        shift = 1 if other.startswith("byte_id") else sizes[name]
        return image[at[name]] + image[at[other]] * shift

    return LinearLayout.of(
        {
            dim: [[place(image, name) for name in extents] for image in images]
            for dim, images in layout.bases.items()
        },
        extents,
    )


@cache
def units(form: Form, name: str) -> tuple[LinearLayout, ...]:
    """What may repeat over a tile of operand `name`, the largest first.

    That is the instruction's fragment; of metadata and scale factors, of which a register holds
    those of several instructions, also what of it lies within fewer of them, lanes and
    registers of the others holding copies.

    Returns:
        (register, lane) -> (row, col) each.
    """
    whole, operand = operand_layout(form, name), form.operand(name)
    if not form.selectors_of(name):
        return (whole,)
    found = []
    cols = whole.out_sizes["col"]
    while cols >= operand.cols:
        rows = whole.out_sizes["row"]
        while rows >= operand.rows:
            found.append(_clipped(whole, rows, cols))
            rows //= 2
        cols //= 2
    return tuple(found)


def _clipped(layout: LinearLayout, rows: int, cols: int) -> LinearLayout:
    return LinearLayout.of(
        {
            dim: [(row if row < rows else 0, col if col < cols else 0) for row, col in images]
            for dim, images in layout.bases.items()
        },
        {"row": rows, "col": cols},
    )
