"""A view as CSV or Markdown, to go on working with."""

from __future__ import annotations

import csv
import io

from .layout_text import Table, heading, matrix_tables, register_table
from .layout_view import LayoutView


def as_csv(view: LayoutView) -> str:
    """A line for each element of each lane; without coordinates where a selector ignores it.

    Raises:
        TilecError: if the ISA does not define who holds what.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([view.holder, "register", "low", "high", *view.axes])
    for slot, place in view.everything():
        writer.writerow([*slot, *(place or ("",) * len(view.axes))])
    return out.getvalue().removesuffix("\n")


def as_markdown(view: LayoutView) -> str:
    """The tables of the text.

    Raises:
        TilecError: if the ISA does not define who holds what.
    """
    first, *rest = heading(view).splitlines()
    parts = [f"### `{first}`", "\n".join(f"- {line}" for line in rest)]
    parts += [_table(one) for one in (*matrix_tables(view), register_table(view))]
    return "\n\n".join(parts)


def _table(one: Table) -> str:
    title = one.title[0].upper() + one.title[1:]
    lines = [["", *one.cols], ["---:"] * (len(one.cols) + 1)]
    lines += [[f"**{label}**", *cells] for label, cells in zip(one.rows, one.body, strict=True)]
    return f"{title}:\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)
