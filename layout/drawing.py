"""Drawings of layouts: SVG for light and dark pages, each cell in the colour of its lane.

Imported by itself, when something is drawn.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterator, Sequence
from html import escape
from itertools import product
from typing import NamedTuple

from .linear import LinearLayout

WIDTH, HEIGHT = 58, 24
"""Of a cell."""
MARGIN, GAP, LINE = 16, 40, 18
_MOST = 64
"""Rows and columns of a layout that are drawn; a page with more is no picture any more."""
FONTS = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
"""Of fixed width; some by name, since programs that draw SVG may not know which is the generic."""
_STYLE = f"""\
text {{ font-size: 12px; font-family: {FONTS}; fill: #1b1b1b; text-anchor: middle }}
.head {{ text-anchor: start }} .name {{ font-weight: 600 }} rect {{ stroke: #fff; stroke-width: 1 }}
@media (prefers-color-scheme: dark) {{
  .head, .label {{ fill: #e8e8e8 }} rect {{ stroke: #1b1b1b }}
}}"""


class Cell(NamedTuple):
    """A cell of a picture: the text in it, its tooltip, and the lane that gives its colour."""

    text: str
    about: str
    lane: int


class Grid(NamedTuple):
    """A matrix: its cells row by row, and the labels of rows and columns."""

    title: str
    cells: Sequence[Sequence[Cell]]
    rows: Sequence[str]
    cols: Sequence[str]

    @property
    def width(self) -> int:
        """With its labels."""
        return WIDTH * (len(self.cols) + 1)


def hsl(lane: int) -> tuple[int, int, int]:
    """The colour of a lane: a hue for each group of four, lighter to darker within it.

    The lanes of a warp differ in a terminal's 256 colours too, and dark text stands on all.
    """
    return lane // 4 % 8 * 45, 70, 83 - 7 * (lane % 4)


def colour(lane: int) -> str:
    """The colour of a lane as CSS writes it."""
    hue, saturation, lightness = hsl(lane)
    return f"hsl({hue} {saturation}% {lightness}%)"


def rgb(lane: int) -> tuple[int, int, int]:
    """The colour of a lane, 0 to 255."""
    hue, saturation, lightness = hsl(lane)
    red, green, blue = colorsys.hls_to_rgb(hue / 360, lightness / 100, saturation / 100)
    return round(red * 255), round(green * 255), round(blue * 255)


def picture(title: str, head: Sequence[str], grids: Sequence[Grid]) -> str:
    """An SVG that stands alone: lines of text above grids side by side."""
    tall = max(len(grid.rows) for grid in grids)
    top = MARGIN + LINE * len(head)
    across = sum(grid.width for grid in grids) + GAP * (len(grids) - 1) + 2 * MARGIN
    width = max(across, max(map(len, head)) * 8 + 2 * MARGIN)
    height = top + LINE * 2 + HEIGHT * tall + MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    for number, line in enumerate(head):
        name = " name" if number == 0 else ""
        y = MARGIN + LINE * number + 4
        lines.append(f'<text class="head{name}" x="{MARGIN}" y="{y}">{escape(line)}</text>')
    left = MARGIN
    for grid in grids:
        lines += _grid(grid, left, top)
        left += grid.width + GAP
    return "\n".join((*lines, "</svg>"))


def _grid(grid: Grid, left: int, top: int) -> Iterator[str]:
    yield f'<text class="head" x="{left}" y="{top + 12}">{escape(grid.title)}</text>'
    top += 2 * LINE
    for n, label in enumerate(grid.cols):
        x = left + WIDTH * (n + 1) + WIDTH // 2
        yield f'<text class="label" x="{x}" y="{top - 5}">{label}</text>'
    for n, (label, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        y = top + HEIGHT * n
        yield f'<text class="label" x="{left + WIDTH // 2}" y="{y + 16}">{label}</text>'
        for m, cell in enumerate(cells):
            x = left + WIDTH * (m + 1)
            yield (
                f'<g><title>{escape(cell.about)}</title><rect x="{x}" y="{y}" width="{WIDTH}" '
                f'height="{HEIGHT}" fill="{colour(cell.lane)}"/>'
                f'<text x="{x + WIDTH // 2}" y="{y + 16}">{escape(cell.text)}</text></g>'
            )


def layout_svg(layout: LinearLayout) -> str | None:
    """A picture of a layout: who holds each element of the matrix that it fills.

    The first holder stands in the cell, `lane:register` or, with other inputs, their indices in
    the layout's order; the tooltip names all. Of large matrices the first rows and columns are
    shown.

    Returns:
        The picture; None unless the layout has one or two outputs.
    """
    if len(layout.outs) not in (1, 2):
        return None
    names = [name for name, _ in layout.ins]
    sizes = layout.in_sizes
    *_, height, width = (1, *(1 << bits for _, bits in layout.outs))
    shown = min(height, _MOST), min(width, _MOST)
    holders: dict[tuple[int, ...], list[dict[str, int]]] = {}
    for index in product(*(range(sizes[name]) for name in reversed(names))):
        at = dict(zip(reversed(names), index, strict=True))
        place = (0, *layout(**at))[-2:]
        if place[0] < shown[0] and place[1] < shown[1]:
            holders.setdefault(place, []).append(at)
    *_, row_name, col_name = ("", *(name for name, _ in layout.outs))
    cells = [
        [_cell(holders.get((row, col), []), names) for col in range(shown[1])]
        for row in range(shown[0])
    ]
    order = "lane:register" if set(names) == {"lane", "register"} else ":".join(reversed(names))
    head = [str(layout), f"{order} by {row_name} (down) and {col_name} (across)".replace("  ", " ")]
    if shown != (height, width):
        head.append(f"the first {shown[0]} × {shown[1]} of {height} × {width}")
    labels = [[str(n) for n in range(count)] for count in shown]
    return picture(str(layout), head, [Grid("", cells, labels[0], labels[1])])


def _cell(holders: list[dict[str, int]], names: Sequence[str]) -> Cell:
    if not holders:
        return Cell("", "nobody", 0)
    about = "; ".join(", ".join(f"{n} {at[n]}" for n in reversed(names)) for at in holders)
    text = ":".join(str(holders[0][name]) for name in reversed(names))
    # Without lanes, as in memory, eight neighbours share a hue: what a swizzle keeps together.
    first = holders[0]
    return Cell(text, about, first["lane"] if "lane" in first else first[names[0]] // 8 * 4)
