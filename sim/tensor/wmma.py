"""The fragments of `wmma`: our choice, since the PTX ISA leaves them open.

A wmma fragment is laid out by the rule of `mma` (`tilec.layout.fragments.warp_tile`), extended
over its larger tile; what a lane holds more than once follows after the first copy. `.row` and
`.col` do not change it. Programs must not depend on this, and hardware differs: compare wmma
results as stored matrices.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES, Operand, WmmaMemory
from tilec.layout import LinearLayout
from tilec.layout.fragments import warp_tile


def wmma_fragment(operand: Operand) -> LinearLayout:
    """(register, lane) -> (row, col); `register` counts a lane's elements, as in `mma`."""
    rows, cols = operand.rows, operand.cols
    if operand.name == "b":
        tile = warp_tile("row", rows, "col", cols, operand.per_register)
    else:
        packed = 2 if operand.name in "cd" else operand.per_register
        tile = warp_tile("col", cols, "row", rows, packed)
    copies = operand.elements * LANES // (rows * cols)
    return (tile * LinearLayout.zeros(copies, "register")).reorder(
        ("register", "lane"), ("row", "col")
    )


@cache
def wmma_offsets(form: WmmaMemory) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Which element each lane's fragment holds.

    Args:
        form: a wmma load or store.

    Returns:
        Row and column, each (elements, 32): element i of a lane is in register
        i // per_register. An element of memory may be held more than once.
    """
    operand = form.fragment
    layout = wmma_fragment(operand)
    rows, cols = layout(register=np.arange(operand.elements)[:, None], lane=np.arange(LANES))
    return np.asarray(rows), np.asarray(cols)
