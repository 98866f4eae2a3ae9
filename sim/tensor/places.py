"""Where elements are: registers on one side, matrices on the other, as indices to gather by."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES, Form, TilecError, WmmaMemory, WmmaMma
from tilec.layout import LinearLayout, fragment_of

from .wmma import wmma_fragment

Selected = Mapping[str, int | NDArray[Any]]
"""Selectors by name: one value, or one a warp."""


class Places(NamedTuple):
    """Both directions of an operand's layout, over flattened elements.

    Attributes:
        matrix: the place in the registers, as `decode` orders them, of each element; its axes
            are the layout's outputs. -1 where no lane holds the element.
        registers: for each place in the registers, its element in the flattened `matrix`.
    """

    matrix: NDArray[np.intp]
    registers: NDArray[np.intp]


def layout_of(form: Form, name: str) -> LinearLayout:
    """The layout of an operand, wmma fragments included."""
    if isinstance(form, WmmaMma | WmmaMemory):
        return wmma_fragment(form.operand(name))
    return fragment_of(form, name)


@cache
def places(form: Form, name: str) -> Places:
    """The places of an operand's elements."""
    operand, layout = form.operand(name), layout_of(form, name)
    packed = operand.per_register
    place = np.arange(operand.registers * LANES * packed)
    register, lane, inside = np.unravel_index(place, (operand.registers, LANES, packed))
    index = layout(register=register * packed + inside, lane=lane)
    sizes = tuple(layout.out_sizes.values())
    matrix = np.full(sizes, -1, dtype=np.intp)
    matrix[index] = place
    return Places(matrix, np.ravel_multi_index(index, sizes))


def to_matrix(form: Form, name: str, elements: NDArray[Any]) -> NDArray[Any]:
    """Elements (warps, elements) in the order of `decode` as matrices (warps, …, rows, cols)."""
    matrix = places(form, name).matrix
    return elements.take(matrix.ravel(), axis=1).reshape(len(elements), *matrix.shape)


def from_matrix(form: Form, name: str, matrices: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `to_matrix`; what a lane holds twice stands twice."""
    return matrices.reshape(len(matrices), -1).take(places(form, name).registers, axis=1)


def pick(form: Form, name: str, elements: NDArray[Any], selectors: Selected) -> NDArray[Any]:
    """What the selectors pick of an operand: (warps, rows, cols).

    Raises:
        TilecError: for a selector that is not legal.
    """
    warps = np.arange(len(elements))
    _, _, *names = layout_of(form, name).out_sizes
    legal = {selector.name: selector.legal for selector in form.selectors}
    values: list[Any] = []
    for selector in names:
        value = np.asarray(selectors[selector])
        if not np.isin(value, legal[selector]).all():
            values_legal = ", ".join(map(str, legal[selector]))
            raise TilecError(f"{selector} of {form.ptx} is {value}; legal: {values_legal}")
        values.append(np.broadcast_to(value, warps.shape))
    by_selectors = np.moveaxis(places(form, name).matrix, (0, 1), (-2, -1))
    index = by_selectors[tuple(values)]  # (warps, rows, cols)
    picked: NDArray[Any] = elements[warps[:, None, None], index]
    return picked
