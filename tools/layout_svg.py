"""A view as SVG: the matrix, each cell in the colour of the lane that holds it."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from .layout_text import Table, heading, matrix_tables
from .layout_view import View

_WIDTH, _HEIGHT = 58, 24
_MARGIN, _GAP, _LINE = 16, 40, 18
_STYLE = """\
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1b1b1b; text-anchor: middle }
.head { text-anchor: start } .name { font-weight: 600 } rect { stroke: #fff; stroke-width: 1 }
@media (prefers-color-scheme: dark) {
  .head, .label { fill: #e8e8e8 } rect { stroke: #1b1b1b }
}"""


def as_svg(view: View) -> str:
    """A drawing that stands alone, for light and dark pages.

    A cell is the run of elements that one register holds; its tooltip names them. Lanes that
    share a row of a fragment share a hue.

    Raises:
        TilecError: if the ISA does not define who holds what.
    """
    tables = list(matrix_tables(view))
    head = [*heading(view).splitlines(), tables[0].what]
    across = [_MARGIN + _WIDTH * (len(one.cols) + 1) for one in tables]
    tall = max(len(one.rows) for one in tables)
    top = _MARGIN + _LINE * len(head)
    text_width = max(map(len, head)) * 8 + 2 * _MARGIN
    width = max(sum(across) + _GAP * (len(tables) - 1) + _MARGIN, text_width)
    height = top + _LINE * 2 + _HEIGHT * tall + _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<title>{escape(head[0])}, operand {escape(view.operand.name)}</title>",
        f"<style>{_STYLE}</style>",
    ]
    for number, line in enumerate(head):
        name = " name" if number == 0 else ""
        y = _MARGIN + _LINE * number + 4
        lines.append(f'<text class="head{name}" x="{_MARGIN}" y="{y}">{escape(line)}</text>')
    left = _MARGIN
    for one, wide in zip(tables, across, strict=True):
        lines += _grid(view, one, left, top)
        left += wide - _MARGIN + _GAP
    return "\n".join((*lines, "</svg>"))


def _grid(view: View, one: Table, left: int, top: int) -> Iterator[str]:
    """One matrix with its labels."""
    *_, row_axis, col_axis = view.axes
    yield f'<text class="head" x="{left}" y="{top + 12}">{escape(one.part)}</text>'
    top += 2 * _LINE
    for n, label in enumerate(one.cols):
        x = left + _WIDTH * (n + 1) + _WIDTH // 2
        yield f'<text class="label" x="{x}" y="{top - 5}">{label}</text>'
    for n, (label, cells) in enumerate(zip(one.rows, one.body, strict=True)):
        y = top + _HEIGHT * n
        yield f'<text class="label" x="{left + _WIDTH // 2}" y="{y + 16}">{label}</text>'
        for m, cell in enumerate(cells):
            x = left + _WIDTH * (m + 1)
            lane, register = map(int, cell.split(":"))
            about = (
                f"lane {lane}, register {register}: {row_axis} {label}, {col_axis} {one.cols[m]}"
            )
            yield (
                f'<g><title>{about}</title><rect x="{x}" y="{y}" width="{_WIDTH}" '
                f'height="{_HEIGHT}" fill="{colour(lane)}"/>'
                f'<text x="{x + _WIDTH // 2}" y="{y + 16}">{cell}</text></g>'
            )


def colour(lane: int) -> str:
    """The colour of a lane: a hue for each group of four, lighter to darker within it."""
    return f"hsl({lane // 4 * 45} 70% {90 - 8 * (lane % 4)}%)"
