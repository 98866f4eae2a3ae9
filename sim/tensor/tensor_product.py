"""D = A·B + D of one `tcgen05.mma`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa.described_product import DescribedProduct

from .arithmetic import arithmetic
from .floats import Inputs, absent_of, addend_of, exact, fast, sides_of
from .product import integers
from .sparse import expand, logical_columns

Matrix = NDArray[Any]


@dataclass(frozen=True, slots=True)
class Sides:
    """What goes with A and B.

    Attributes:
        scale_a, scale_b: scale factors of a block-scaled product, which each CTA has of its own:
            (CTAs, rows of one, chunks) and (CTAs, chunks, n).
        codes: metadata of a sparse A, (m, chunks).
    """

    scale_a: Matrix | None = None
    scale_b: Matrix | None = None
    codes: NDArray[np.intp] | None = None


def multiply_tensors(
    form: DescribedProduct,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    sides: Sides,
    *,
    arch: str,
    numerics: str,
) -> Matrix:
    """Execute one product.

    Args:
        form: the product.
        a: values of A as stored, (m, k), half as many columns if it is sparse.
        b: values of B, (k, n).
        c: values of D before, (m, n), of its element type.
        sides: scale factors and metadata.
        arch: the target whose arithmetic is meant.
        numerics: `exact` or `fast`, as for `product.multiply`; `algebraic` of integers alone.

    Returns:
        D, (m, n), of its element type.
    """
    # CTAs of a pair have scale factors of their own, each of its rows and of all columns.
    count = 1 if sides.scale_a is None else len(sides.scale_a)
    a, c = (one.reshape(count, -1, one.shape[1]) for one in (a, c))
    b = np.broadcast_to(b, (count, *b.shape))
    present = None
    if sides.codes is not None:
        columns = logical_columns(form, sides.codes.reshape(count, -1, sides.codes.shape[1]))
        if form.operand("b").type.is_float and not np.isfinite(b).all():
            present = expand(form.shape.k, np.ones(columns.shape, dtype=bool), columns)
        a = expand(form.shape.k, a, columns)
    inputs = Inputs(a, b, c, present, sides.scale_a, sides.scale_b)
    if not form.operand("a").type.is_float:
        d = integers(form, a.astype(np.float64), b.astype(np.float64), c)
    elif numerics == "fast":
        with np.errstate(all="ignore"):
            d = fast(inputs).astype(c.dtype)
    else:
        rule = arithmetic(form, arch)
        factors = sides_of(form, inputs, rule)
        d = exact(form, rule, factors, addend_of(form, c), absent_of(inputs)).transpose(2, 0, 1)
    found: Matrix = np.ascontiguousarray(d).reshape(form.shape.m, form.shape.n)
    return found
