"""A view as SVG: the matrix, each cell in the colour of the lane that holds it."""

from __future__ import annotations

from tilec.layout.drawing import Cell, Grid, picture

from .layout_text import Table, heading, matrix_tables
from .layout_view import LayoutView


def as_svg(view: LayoutView) -> str:
    """A drawing that stands alone, for light and dark pages.

    A cell is the run of elements that one register holds; its tooltip names them. Lanes that
    share a row of a fragment share a hue.

    Raises:
        TilecError: if the ISA does not define who holds what.
    """
    tables = list(matrix_tables(view))
    head = [*heading(view).splitlines(), tables[0].what]
    title = f"{head[0]}, operand {view.operand.name}"
    return picture(title, head, [_grid(view, one) for one in tables])


def _grid(view: LayoutView, one: Table) -> Grid:
    """One matrix."""
    *_, row_axis, col_axis = view.axes
    cells = []
    for label, line in zip(one.rows, one.body, strict=True):
        row = []
        for col, cell in zip(one.cols, line, strict=True):
            lane, register = map(int, cell.split(":"))
            about = (
                f"{view.holder} {lane}, register {register}: {row_axis} {label}, {col_axis} {col}"
            )
            row.append(Cell(cell, about, lane))
        cells.append(row)
    return Grid(one.part, cells, one.rows, one.cols)
