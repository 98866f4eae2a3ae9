"""A layout given by its bases, as `tile-layout` shows it."""

from __future__ import annotations

from typing import Any

from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout
from tilec.layout.drawing import layout_grid, layout_svg
from tilec.layout.formula import formulas

from .layout_text import table


def text(layout: LinearLayout, warp: int | None = None, bits: int | None = None) -> str:
    """The formulas of the outputs, and who holds each element.

    Args:
        layout: the layout.
        warp: the one warp whose elements are shown; None for all.
        bits: of an element, so that registers are numbered; elements are, if None.

    Raises:
        TilecError: if the layout has more than two outputs, or no such warp.
    """
    _require_matrix(layout)
    grid = layout_grid(layout, fixed=_fixed(layout, warp), bits=bits)
    written = [f"{name} = {formula}" for name, formula in formulas(layout, {}).items()]
    body = [[cell.text or "-" for cell in row] for row in grid.cells]
    shown = table(body, list(grid.rows), list(grid.cols))
    return "\n".join((str(layout), *written, "", grid.title, shown))


def svg(layout: LinearLayout, warp: int | None = None, bits: int | None = None) -> str:
    """The same as a picture.

    Args, Raises: as of `text`.
    """
    _require_matrix(layout)
    return layout_svg(layout, _fixed(layout, warp), bits) or ""


def _fixed(layout: LinearLayout, warp: int | None) -> dict[str, int]:
    if warp is None:
        return {}
    count = layout.in_sizes.get("warp", 0)
    if not 0 <= warp < count:
        legal = f"legal: 0 to {count - 1}" if count else "it has no input 'warp'"
        raise TilecError(f"the layout has no warp {warp}; {legal}")
    return {"warp": warp}


def json(layout: LinearLayout) -> dict[str, Any]:
    """Sizes and bases."""
    return {
        "layout": str(layout),
        "ins": layout.in_sizes,
        "outs": layout.out_sizes,
        "bases": layout.bases,
    }


def _require_matrix(layout: LinearLayout) -> None:
    if len(layout.outs) not in (1, 2):
        names = ", ".join(name for name, _ in layout.outs)
        raise TilecError(
            f"a layout of {counted(len(layout.outs), 'output')} ({names}) is not a matrix; use "
            f"--format json"
        )
