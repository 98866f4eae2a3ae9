"""Tables on a terminal: cells in the colours of their lanes, folded to its width."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from typing import TextIO

from tilec.layout.drawing import rgb

from .colours import has_colours
from .layout_text import Table, heading, matrix_tables, register_table, text
from .layout_view import LayoutView

_GAP = 2
_LEVELS = (0, 95, 135, 175, 215, 255)
"""Of red, green and blue in the 6×6×6 cube of a terminal's 256 colours."""


def wants_colour(out: TextIO, when: str = "auto") -> bool:
    """Whether to colour what is written to `out`.

    Args:
        out: the stream.
        when: `always`, `never`, or `auto`: where `has_colours`.
    """
    return has_colours(out) if when == "auto" else when == "always"


def width_of(out: TextIO) -> int | None:
    """Columns of the terminal that `out` is; None if it is none."""
    return shutil.get_terminal_size().columns if out.isatty() else None


def on_terminal(view: LayoutView, *, width: int | None, colour: bool) -> str:
    """The whole map as `layout_text.text` has it, for a terminal.

    Args:
        view: what to show.
        width: where to fold tables; nowhere if None.
        colour: whether to colour cells by lane.
    """
    if view.layout is None or (width is None and not colour):
        return text(view)
    blocks = [heading(view)]
    for one in matrix_tables(view):
        blocks += folded(one, width, _of_holder if colour else None)
    blocks += folded(register_table(view), width, _of_row if colour else None)
    return "\n\n".join(blocks)


def _of_holder(row: str, cell: str) -> int:
    """The lane of a cell of the matrix view."""
    del row
    return int(cell.split(":", maxsplit=1)[0])


def _of_row(row: str, cell: str) -> int:
    """The lane of a cell of the register view."""
    del cell
    return int(row)


def folded(
    one: Table, width: int | None, lane_of: Callable[[str, str], int] | None = None
) -> Iterator[str]:
    """The table in blocks of columns that a terminal holds, the title above the first.

    Args:
        one: the table.
        width: columns of the terminal; one block if None.
        lane_of: the lane whose colour a cell gets, by its row's label and its text; no colours
            if None.
    """
    widths = [max(map(len, column)) for column in zip(one.cols, *one.body, strict=True)]
    labels = max(map(len, one.rows))
    title = one.title + "\n"
    for columns in _fold(widths, width - labels if width else None):
        lines = [[" " * labels, *(one.cols[n].rjust(widths[n]) for n in columns)]]
        for row, cells in zip(one.rows, one.body, strict=True):
            shown = [cells[n].rjust(widths[n]) for n in columns]
            if lane_of:
                shown = [
                    _coloured(cell, lane_of(row, cells[n]))
                    for cell, n in zip(shown, columns, strict=True)
                ]
            lines.append([row.rjust(labels), *shown])
        yield title + "\n".join((" " * _GAP).join(line).rstrip() for line in lines)
        title = ""


def _fold(widths: Sequence[int], room: int | None) -> Iterator[range]:
    """Runs of columns that fit into `room`, of one at least; all of them if it is None."""
    first, used = 0, 0
    for n, width in enumerate(widths):
        if room is not None and n > first and used + _GAP + width > room:
            yield range(first, n)
            first, used = n, 0
        used += _GAP + width
    yield range(first, len(widths))


def _coloured(cell: str, lane: int) -> str:
    return f"\x1b[30;48;5;{colour_256(lane)}m{cell}\x1b[0m"


def colour_256(lane: int) -> int:
    """The number of the terminal colour nearest to a lane's."""
    red, green, blue = map(_nearest, rgb(lane))
    return 16 + 36 * red + 6 * green + blue


def _nearest(level: int) -> int:
    return min(range(6), key=lambda n: abs(_LEVELS[n] - level))
