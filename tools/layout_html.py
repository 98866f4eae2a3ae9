"""A form's operands as one page: point at a lane, an element, a step of k, and see what belongs."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from importlib.resources import files

from tilec.isa import Form, Product
from tilec.layout.drawing import colour

from .layout_text import Table, matrix_tables
from .layout_view import LayoutView

_ALONG_K = {"a": "col", "b": "row", "e": "col", "sfa": "col", "sfb": "row"}
_ORDER = ("b", "a", "d", "c", "e", "sfa", "sfb", "r")
"""As they are laid out: B above D, A to its left."""


def as_html(form: Form, selectors: dict[str, int]) -> str:
    """A page that stands alone: no other file, no network.

    Args:
        form: the form whose operands are shown, C only where it is laid out as D is not, and
            none that lies in memory.
        selectors: `selector`, `byte_id`, `thread_id` where given.

    Raises:
        TilecError: if the ISA does not define who holds what, or no operand depends on a
            selector.
    """
    views = LayoutView.of_all(form, selectors)
    views = {name: view for name, view in views.items() if view.operand.threads}
    if {"c", "d"} <= set(views) and views["c"].layout == views["d"].layout:
        del views["c"]
    steps = _steps(form)
    slider = stepping = ""
    if steps:
        slider = (
            f'<label>k <input type="range" id="k" min="-1" max="{len(steps) - 1}" value="-1" '
            f'data-names="{" ".join(steps)}"><output>all</output></label>'
        )
        stepping = " The slider steps through k."
    tables = {name: list(matrix_tables(views[name])) for name in _ORDER if name in views}
    page = files(__package__).joinpath("layout_page.html").read_text("utf-8")
    for key, value in {
        "title": escape(form.ptx),
        "stepping": stepping,
        "slider": slider,
        "steps": str(len(steps)),
        "body": "\n".join(_sections(views, tables)),
    }.items():
        page = page.replace("{{" + key + "}}", value)
    return page.removesuffix("\n")


def _steps(form: Form) -> list[str]:
    """Names of the steps of k: runs that share a code where A is sparse; none if no product."""
    if not isinstance(form, Product):
        return []
    starts = range(0, form.shape.k, form.chunk)
    return [f"{k}-{k + form.chunk - 1}" if form.chunk > 1 else str(k) for k in starts]


def _sections(views: dict[str, LayoutView], tables: dict[str, list[Table]]) -> Iterator[str]:
    """The operands, product by product."""
    products = max(view.products for view in views.values())
    for product in range(products):
        yield '<section class="product">'
        for name, found in tables.items():
            mine = [found[product]] if products > 1 else found
            for one in mine:
                yield from _figure(views[name], one, product)
        yield "</section>"


def _figure(view: LayoutView, one: Table, product: int) -> Iterator[str]:
    """One matrix."""
    name = view.operand.name
    place = name if name in "abd" else "alone"
    extents = "×".join(str(extent) for extent in view.extents[-2:])
    caption = f"<b>{name}</b> {extents} {view.operand.type}"
    if one.part:
        caption += f", {one.part}"
    *_, row_axis, col_axis = view.axes
    along = ""
    if name in _ALONG_K:
        axis = _ALONG_K[name]
        along = f' data-axis="{axis}" data-extent="{view.extents[-2 + (axis == "col")]}"'
    yield f'<figure class="{place}"><figcaption>{caption}</figcaption>'
    yield f'<table tabindex="0" data-name="{name}" data-product="{product}"{along}>'
    heads = "".join(f"<th>{label}</th>" for label in one.cols)
    yield f"<thead><tr><th>{row_axis}\\{col_axis}</th>{heads}</tr></thead><tbody>"
    for label, cells in zip(one.rows, one.body, strict=True):
        line = f"<tr><th>{label}</th>"
        for col, cell in zip(one.cols, cells, strict=True):
            lane, register = map(int, cell.split(":"))
            title = (
                f"{view.holder} {lane}, register {register}: {row_axis} {label}, {col_axis} {col}"
            )
            line += (
                f'<td data-lane="{lane}" data-row="{label}" data-col="{col}" title="{title}" '
                f'style="background:{colour(lane)}">{cell}</td>'
            )
        yield line + "</tr>"
    yield "</tbody></table></figure>"
