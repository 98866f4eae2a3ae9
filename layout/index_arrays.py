"""A layout as index arrays, to gather whole fragments by: registers against matrices.

Not imported by `tilec.layout` itself, which does without numpy.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .repeated import Fragment


class IndexArrays(NamedTuple):
    """Both directions of a fragment's layout.

    Elements in registers are counted register by register, in it thread by thread, in it from the
    low bits up: the order of an array (registers, threads) of words seen as one of elements. The
    threads are the lanes of the first warp, of the second, and so on.

    Attributes:
        matrix: the place in the registers of each element; its axes are the layout's outputs.
            -1 where no lane holds the element.
        registers: for each place in the registers, its element in the flattened `matrix`.
    """

    matrix: NDArray[np.intp]
    registers: NDArray[np.intp]


@cache
def index_arrays(layout: Fragment, packed: int) -> IndexArrays:
    """The index arrays of a layout (register, lane) or (register, lane, warp) -> outputs.

    Args:
        layout: its `register` counts elements.
        packed: elements in a register.
    """
    extents = layout.in_sizes
    elements, *threads = (extents.get(name, 1) for name in ("register", "lane", "warp"))
    place = np.arange(elements * prod(threads))
    shape = (elements // packed, *reversed(threads), packed)
    register, warp, lane, inside = np.unravel_index(place, shape)
    at = {"register": register * packed + inside, "lane": lane, "warp": warp}
    index = layout(**{name: at[name] for name in layout.in_sizes})
    sizes = tuple(layout.out_sizes.values())
    matrix = np.full(sizes, -1, dtype=np.intp)
    matrix[index] = place
    return IndexArrays(matrix, np.ravel_multi_index(index, sizes))
