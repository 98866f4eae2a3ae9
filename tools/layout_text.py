"""A view as plain text: the matrix with its holders, and the lanes with what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

from tilec.layout.formula import formulas

from .layout_view import LayoutView, Place, Slot

Grid = list[list[str]]


def text(view: LayoutView) -> str:
    """The whole map: a heading, the matrix view, the register view."""
    if view.layout is None:
        return f"{heading(view)}\n{view.open[0].upper()}{view.open[1:]}."
    tables = (*matrix_tables(view), register_table(view))
    return "\n\n".join((heading(view), *map(str, tables)))


def heading(view: LayoutView) -> str:
    """Form, operand, registers, the place of a lane's element i, selectors."""
    operand = view.operand
    extents = "×".join(map(str, view.extents))
    lines = [
        view.form.ptx,
        f"operand {operand.name}: {extents} {operand.type} ({', '.join(view.axes)})",
    ]
    if operand.threads:
        lines.append(
            f"a {view.holder} holds {_count(operand.registers, 'register')} of "
            f"{operand.register.bits} bits, {_count(operand.per_register, 'element')} each"
        )
    if operand.container > operand.type.bits:
        low = operand.shift
        high = low + operand.type.bits - 1
        lines.append(f"an element is in bits {low}-{high} of {operand.container}")
    if view.layout:
        names = {"register": "i"}
        if "lane" in view.layout.out_sizes:
            names["lane"] = "t"  # the thread, which is none of tensor memory's lanes
        written = formulas(view.layout, names)
        lines += [f"{name} = {formula}" for name, formula in written.items()]
    lines += [f"here {name} is {value}" for name, value in view.selection.items()]
    return "\n".join(lines)


class Table(NamedTuple):
    """A table with labelled rows and columns.

    Attributes:
        part: which matrix or product of several it shows, or nothing.
        what: what stands in its cells.
        body: cells, row by row.
        rows, cols: the labels.
    """

    part: str
    what: str
    body: Grid
    rows: list[str]
    cols: list[str]

    @property
    def title(self) -> str:
        """Part and what, on one line."""
        return f"{self.part}, {self.what}" if self.part else self.what

    def __str__(self) -> str:
        return self.title + "\n" + table(self.body, self.rows, self.cols)


def matrix_tables(view: LayoutView) -> Iterator[Table]:
    """Which lane and register holds each element; neighbours in one register share a cell.

    One table for each matrix or product.
    """
    *blocks, rows, cols = view.axes
    *block_extents, height, width = view.extents
    for block in product(*(range(extent) for extent in block_extents)):
        holders = [
            [view.holders((*block, row, col)) for col in range(width)] for row in range(height)
        ]
        for number in range(view.products):
            grid = [[f"{s[number].lane}:{s[number].register}" for s in line] for line in holders]
            part = [f"{name} {at}" for name, at in zip(blocks, block, strict=True)]
            part += [f"product {number}"] if view.products > 1 else []
            what = f"{view.holder}:register by {rows} (down) and {cols} (across)"
            yield Table(", ".join(part), what, *_merged(grid))


def register_table(view: LayoutView) -> Table:
    """Which elements each register of each lane holds, low bits first."""
    names = [f"r{n}" for n in range(view.operand.registers)]
    body = []
    threads = range(view.operand.threads)
    for lane in threads:
        places = view.held(lane)
        step = view.operand.per_register
        body.append([span(places[at : at + step]) for at in range(0, len(places), step)])
    axes = ",".join(view.axes)
    what = f"({axes}) by {view.holder} (down) and register (across), low bits first"
    return Table("", what, body, [str(n) for n in threads], names)


def slots(found: Sequence[Slot], holder: str = "lane") -> str:
    """Where an element is, one line a holder, which is a lane or a thread."""
    return "\n".join(
        f"{holder} {s.lane}, register {s.register}, bits {s.low}-{s.high}" for s in found
    )


def contents(found: Sequence[tuple[Slot, Place | None]]) -> str:
    """What registers of a lane hold, one line an element."""
    return "\n".join(
        f"register {s.register}, bits {s.low}-{s.high}: {span([place])}" for s, place in found
    )


def span(places: Sequence[Place | None]) -> str:
    """Elements of one register; those that follow each other along one axis as a range."""
    if all(place is None for place in places):
        return "-"
    words: list[str] = []
    at = 0
    while at < len(places):
        first = places[at]
        if first is None:
            words.append("-")
            at += 1
            continue
        end, axis = _run(places, at)
        word = [str(n) for n in first]
        if end - at > 1:
            word[axis] += f"-{first[axis] + end - at - 1}"
        words.append(",".join(word))
        at = end
    return " ".join(words)


def _run(places: Sequence[Place | None], at: int) -> tuple[int, int]:
    """Where the longest range that starts at `at` ends, and the axis that it goes along."""
    first = places[at]
    assert first

    def end(axis: int) -> int:
        after = at + 1
        while after < len(places):
            if places[after] != (*first[:axis], first[axis] + after - at, *first[axis + 1 :]):
                break
            after += 1
        return after

    return max((end(axis), axis) for axis in range(len(first)))


def _merged(grid: Grid) -> tuple[Grid, list[str], list[str]]:
    """The grid with equal neighbours in one cell, and the labels of its rows and columns."""
    grid, row_step = _merge_rows(grid)
    across, col_step = _merge_rows([list(column) for column in zip(*grid, strict=True)])
    merged = [list(row) for row in zip(*across, strict=True)]
    return merged, _labels(len(merged), row_step), _labels(len(merged[0]), col_step)


def _merge_rows(grid: Grid) -> tuple[Grid, int]:
    step = 1
    while len(grid) > 1 and grid[::2] == grid[1::2]:
        grid, step = grid[::2], 2 * step
    return grid, step


def _labels(count: int, step: int) -> list[str]:
    if step == 1:
        return [str(n) for n in range(count)]
    return [f"{n * step}-{n * step + step - 1}" for n in range(count)]


def table(body: Grid, rows: list[str], cols: list[str]) -> str:
    """Right-aligned columns under a line of labels."""
    lines = [["", *cols], *([label, *cells] for label, cells in zip(rows, body, strict=True))]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
