"""Where elements are: registers on one side, matrices on the other, as indices to gather by."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Form, TilecError
from tilec.isa import form as find_form
from tilec.layout.fragments import any_fragment_of
from tilec.layout.index_arrays import IndexArrays, index_arrays
from tilec.layout.repeated import Fragment

from .wmma import wmma_fragment

Selected = Mapping[str, int | NDArray[Any]]
"""Selectors by name: one value, or one a warp."""


def layout_of(form: Form, name: str) -> Fragment:
    """The layout of an operand, wmma fragments included."""
    operand = form.operand(name)
    return wmma_fragment(operand) if operand.opaque else any_fragment_of(form, name)


@cache
def indices_of(ptx: str, name: str) -> IndexArrays:
    """Where an operand's elements are; by the form's key, which is quick to look up."""
    form = find_form(ptx)
    return index_arrays(layout_of(form, name), form.operand(name).per_register)


def to_matrix(form: Form, name: str, elements: NDArray[Any]) -> NDArray[Any]:
    """Elements (warps, elements) in the order of `decode` as matrices (warps, …, rows, cols)."""
    matrix = indices_of(form.ptx, name).matrix
    return elements.take(matrix.ravel(), axis=1).reshape(len(elements), *matrix.shape)


def from_matrix(form: Form, name: str, matrices: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `to_matrix`; what a lane holds twice stands twice."""
    return matrices.reshape(len(matrices), -1).take(indices_of(form.ptx, name).registers, axis=1)


def pick(form: Form, name: str, elements: NDArray[Any], selectors: Selected) -> NDArray[Any]:
    """What the selectors pick of an operand: (warps, rows, cols).

    Raises:
        TilecError: for a selector that is not legal.
    """
    warps = np.arange(len(elements))
    _, _, *names = layout_of(form, name).out_sizes
    legal = {selector.name: selector.legal for selector in form.selectors}
    values: list[NDArray[np.integer[Any]]] = []
    for selector in names:
        value = np.asarray(selectors[selector])
        if not np.isin(value, legal[selector]).all():
            values_legal = ", ".join(map(str, legal[selector]))
            raise TilecError(f"{selector} of {form.ptx} is {value}; legal: {values_legal}")
        values.append(np.broadcast_to(value, warps.shape))
    by_selectors = np.moveaxis(indices_of(form.ptx, name).matrix, (0, 1), (-2, -1))
    index = by_selectors[tuple(values)]  # (warps, rows, cols)
    picked: NDArray[Any] = elements[warps[:, None, None], index]
    return picked
