"""A layout as index arrays, to gather whole fragments by: registers against matrices.

Not imported by `tilec.layout` itself, which does without numpy.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .linear import LinearLayout


class Places(NamedTuple):
    """Both directions of a fragment's layout.

    Elements in registers are counted register by register, in it lane by lane, in it from the low
    bits up: the order of an array (registers, lanes) of words seen as an array of elements.

    Attributes:
        matrix: the place in the registers of each element; its axes are the layout's outputs.
            -1 where no lane holds the element.
        registers: for each place in the registers, its element in the flattened `matrix`.
    """

    matrix: NDArray[np.intp]
    registers: NDArray[np.intp]


@cache
def places(layout: LinearLayout, packed: int) -> Places:
    """The index arrays of a layout (register, lane) -> outputs.

    Args:
        layout: its `register` counts elements.
        packed: elements in a register.
    """
    elements, lanes = layout.in_sizes["register"], layout.in_sizes["lane"]
    place = np.arange(elements * lanes)
    register, lane, inside = np.unravel_index(place, (elements // packed, lanes, packed))
    index = layout(register=register * packed + inside, lane=lane)
    sizes = tuple(layout.out_sizes.values())
    matrix = np.full(sizes, -1, dtype=np.intp)
    matrix[index] = place
    return Places(matrix, np.ravel_multi_index(index, sizes))
