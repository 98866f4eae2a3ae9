"""What each warp holds of the fragments of a warpgroup."""

from __future__ import annotations

from functools import lru_cache

from tilec.isa import LANES, WARPGROUP_THREADS, Form
from tilec.layout import LinearLayout, any_fragment_of
from tilec.layout.operands import operand_layout

_COLUMNS = 8
"""Of the tiles side by side that an accumulator is made of."""


@lru_cache(maxsize=256)
def warp_piece(form: Form, name: str) -> LinearLayout:
    """What a tile's layout repeats: of an accumulator m16n8, as that of other instructions does."""
    unit = warp_unit(form, name)
    if name in "ae":
        return unit
    registers = [image for image in unit.bases["register"] if image[1] < _COLUMNS]
    return LinearLayout.of(
        {"register": registers, "lane": unit.bases["lane"]},
        {"row": unit.out_sizes["row"], "col": _COLUMNS},
    )


@lru_cache(maxsize=256)
def warp_unit(form: Form, name: str) -> LinearLayout:
    """(register, lane) -> place of a warp's sixteen rows of an operand of `wgmma`.

    Of an accumulator whose N is not a power of two it is that of as many columns as divide N.

    Args:
        form: a form of `wgmma`.
        name: `a` in registers, `c`, `d`, or `e`, the metadata of a sparse A.
    """
    whole = operand_layout(form, name) if name == "e" else any_fragment_of(form, name)
    if not isinstance(whole, LinearLayout):
        whole = whole.over(whole.count & -whole.count)
    rows, cols = whole.out_sizes.values()
    bases = whole.bases
    return LinearLayout.of(
        {"register": bases["register"], "lane": bases["lane"]},
        {"row": rows * LANES // WARPGROUP_THREADS, "col": cols},
    )
