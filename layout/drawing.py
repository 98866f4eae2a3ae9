"""Drawings of layouts: SVG for light and dark pages, each cell in the colour of its lane.

Imported by itself, when something is drawn.
"""

from __future__ import annotations

import colorsys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import product
from math import prod
from typing import NamedTuple, Protocol

_WIDTH, _HEIGHT = 58, 24
"""Of a cell, where its text is no longer."""
_MARGIN, _GAP, _LINE, _LETTER = 16, 40, 18, 8
MOST = 64
"""Rows and columns of a layout that are drawn; a page with more is not a picture any more."""
FOLDED = 16
"""Cells in a row of a layout with one output."""
_WAYS = ("down", "across")
_ELEMENT = "element"
"""What pictures call the input `register` where nobody says how wide an element is."""
REGISTER_BITS = 32
FONTS = "ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
"""Of fixed width; some by name, since programs that draw SVG may not know which is the generic."""
WRONG = "#ff6b60"
"""The red of what is wrong, which no lane has."""
_STYLE = f"""\
text {{ font-size: 12px; font-family: {FONTS}; fill: #1b1b1b; text-anchor: middle }}
.head {{ text-anchor: start }} .name {{ font-weight: 600 }} rect {{ stroke: #fff; stroke-width: 1 }}
@media (prefers-color-scheme: dark) {{
  .head, .label {{ fill: #e8e8e8 }} rect {{ stroke: #1b1b1b }}
}}"""


class Layout(Protocol):
    """What can be drawn: a map from named inputs to named outputs, as a `LinearLayout` is."""

    @property
    def ins(self) -> tuple[tuple[str, int], ...]:
        """Inputs and their numbers of bits."""

    @property
    def outs(self) -> tuple[tuple[str, int], ...]:
        """Outputs and their numbers of bits."""

    @property
    def in_sizes(self) -> dict[str, int]:
        """Size of each input."""

    def __call__(self, **index: int) -> tuple[int, ...]:
        """Where an index goes."""


class Cell(NamedTuple):
    """A cell of a picture: the text in it, its tooltip, and the lane whose colour it has.

    One that `is_wrong`, such as an access that meets another in a bank, is red instead.
    """

    text: str
    about: str
    lane: int | None
    is_wrong: bool = False


class Grid(NamedTuple):
    """A matrix: its cells row by row, and the labels of rows and columns."""

    title: str
    cells: Sequence[Sequence[Cell]]
    rows: Sequence[str]
    cols: Sequence[str]

    @property
    def cell_width(self) -> int:
        """Of a cell."""
        texts = (*self.rows, *self.cols, *(cell.text for row in self.cells for cell in row))
        return max(_WIDTH, _LETTER * (max(map(len, texts)) + 1))

    @property
    def width(self) -> int:
        """With its labels."""
        return self.cell_width * (len(self.cols) + 1)


def hsl(lane: int) -> tuple[int, int, int]:
    """The colour of a lane: a hue for each group of four, lighter to darker within it.

    The lanes of a warp differ in a terminal's 256 colours too, and dark text stands on all.
    """
    return lane // 4 % 8 * 45, 70, 82 - 5 * (lane % 4)


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
    top = _MARGIN + _LINE * len(head)
    across = sum(grid.width for grid in grids) + _GAP * (len(grids) - 1) + 2 * _MARGIN
    width = max(across, max(map(len, head)) * _LETTER + 2 * _MARGIN)
    height = top + _LINE * 2 + _HEIGHT * tall + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    for number, line in enumerate(head):
        name = " name" if number == 0 else ""
        y = _MARGIN + _LINE * number + 4
        lines.append(f'<text class="head{name}" x="{_MARGIN}" y="{y}">{escape(line)}</text>')
    left = _MARGIN
    for grid in grids:
        lines += _grid(grid, left, top)
        left += grid.width + _GAP
    return "\n".join((*lines, "</svg>"))


def _grid(grid: Grid, left: int, top: int) -> Iterator[str]:
    yield f'<text class="head" x="{left}" y="{top + 12}">{escape(grid.title)}</text>'
    top += 2 * _LINE
    wide = grid.cell_width
    for n, label in enumerate(grid.cols):
        x = left + wide * (n + 1) + wide // 2
        yield f'<text class="label" x="{x}" y="{top - 5}">{label}</text>'
    for n, (label, cells) in enumerate(zip(grid.rows, grid.cells, strict=True)):
        y = top + _HEIGHT * n
        yield f'<text class="label" x="{left + wide // 2}" y="{y + 16}">{label}</text>'
        for m, cell in enumerate(cells):
            x = left + wide * (m + 1)
            fill = WRONG if cell.is_wrong else "none" if cell.lane is None else colour(cell.lane)
            yield (
                f'<g><title>{escape(cell.about)}</title><rect x="{x}" y="{y}" width="{wide}" '
                f'height="{_HEIGHT}" fill="{fill}"/>'
                f'<text x="{x + wide // 2}" y="{y + 16}">{escape(cell.text)}</text></g>'
            )


def layout_svg(
    layout: Layout, fixed: Mapping[str, int] | None = None, bits: int | None = None
) -> str | None:
    """A picture of a layout: who holds each element of the matrix that it fills.

    The first holder stands in the cell, as `layout_grid` names it; the tooltip names all. Of
    large matrices the first rows and columns are shown.

    Args:
        layout: the layout.
        fixed: inputs that have one index, such as a warp: what it holds is shown, and no more.
        bits: bits of an element, as of `layout_grid`.

    Returns:
        The picture; None unless the layout has one or two outputs.
    """
    if len(layout.outs) not in (1, 2):
        return None
    grid = layout_grid(layout, None if fixed else MOST, fixed, bits)
    head = [str(layout), grid.title]
    sizes = _matrix(layout)
    if fixed:
        head.append(", ".join(f"{name} {index}" for name, index in fixed.items()))
    elif prod(sizes) != len(grid.rows) * len(grid.cols):
        shown = [f"{len(grid.rows)} × {len(grid.cols)}", f"{sizes[0]} × {sizes[1]}"]
        if len(layout.outs) == 1:
            shown = [str(len(grid.rows) * len(grid.cols)), str(sizes[1])]
        head.append(f"the first {shown[0]} of {shown[1]}")
    return picture(str(layout), head, [grid._replace(title="")])


def layout_grid(
    layout: Layout,
    most: int | None = None,
    fixed: Mapping[str, int] | None = None,
    bits: int | None = None,
) -> Grid:
    """Who holds each element of the matrix that a layout of one or two outputs fills.

    A holder is `lane:register` or, with other inputs, their indices, the last input first. The
    input `register` of a layout counts elements; registers are told where their width is known.

    Args:
        layout: the layout; a single output goes across, in rows of `FOLDED` from there on.
        most: how many rows and columns to show; all if None.
        fixed: inputs that have one index; rows and columns without their elements are left out.
        bits: bits of an element; None if unknown: then a holder is `lane:element`.
    """
    known = fixed or {}
    names = [name for name, _ in reversed(layout.ins)]
    sizes = layout.in_sizes
    height, width = (min(size, most or size) for size in _matrix(layout))
    if len(layout.outs) == 1 and most:
        width = min(_matrix(layout)[1], FOLDED * FOLDED)
    holders: dict[tuple[int, ...], list[dict[str, int]]] = {}
    ranges = ([known[name]] if name in known else range(sizes[name]) for name in names)
    for index in product(*ranges):
        at = dict(zip(names, index, strict=True))
        holders.setdefault((0, *layout(**at))[-2:], []).append(at)
    shown: list[Sequence[int]] = [range(height), range(width)]
    if known:
        limit = MOST if len(layout.outs) == 2 else FOLDED * FOLDED
        shown = [sorted({at[dim] for at in holders})[:limit] for dim in range(2)]
    cells = [[_cell(holders.get((row, col), []), bits) for col in shown[1]] for row in shown[0]]
    outs = [name for name, _ in layout.outs]
    ways = _WAYS[-len(outs) :]
    if len(outs) == 1 and len(shown[1]) > FOLDED and _folds(shown[1]):
        shown = [shown[1][::FOLDED], range(FOLDED)]
        cells = [cells[0][at : at + FOLDED] for at in range(0, len(cells[0]), FOLDED)]
        ways = ("across, then down",)
    axes = " and ".join(f"{name} ({way})" for name, way in zip(outs, ways, strict=True))
    rows, cols = ([str(n) for n in numbers] for numbers in shown)
    called = (_ELEMENT if name == "register" and bits is None else name for name in names)
    return Grid(f"{':'.join(called)} by {axes}", cells, rows, cols)


def _folds(numbers: Sequence[int]) -> bool:
    """Whether numbers are whole rows, in each of which they follow each other."""
    rows = [numbers[at : at + FOLDED] for at in range(0, len(numbers), FOLDED)]
    return all(list(row) == list(range(row[0], row[0] + FOLDED)) for row in rows)


def _matrix(layout: Layout) -> tuple[int, int]:
    """Rows and columns."""
    *_, rows, cols = (1, *(1 << bits for _, bits in layout.outs))
    return rows, cols


def register_of(element: int, bits: int) -> tuple[int, str]:
    """The register of a lane's element, and where it is there, as `, bits 0-15` or empty.

    A register has 32 bits, or those of a wider element.

    >>> register_of(5, 16), register_of(5, 32)
    ((2, ', bits 16-31'), (5, ''))
    """
    if bits >= REGISTER_BITS:
        return element, ""
    register, low = divmod(element * bits, REGISTER_BITS)
    return register, f", bits {low}-{low + bits - 1}"


def _said(name: str, index: int, bits: int | None) -> str:
    """An input and its index in words."""
    if name != "register":
        return f"{name} {index}"
    if bits is None:
        return f"{_ELEMENT} {index}"
    register, place = register_of(index, bits)
    return f"register {register}{place}"


def _cell(holders: list[dict[str, int]], bits: int | None) -> Cell:
    if not holders:
        return Cell("", "nobody", None)
    first = holders[0]
    about = "; ".join(", ".join(_said(name, n, bits) for name, n in at.items()) for at in holders)
    # Without lanes, as in memory, eight neighbours share a hue: what a swizzle keeps together.
    lane = first["lane"] if "lane" in first else [*first.values()][-1] // 8 * 4
    shown = dict(first)
    if "register" in shown and bits is not None:
        shown["register"], _ = register_of(shown["register"], bits)
    return Cell(":".join(map(str, shown.values())), about, lane)
