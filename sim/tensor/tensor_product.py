"""D = A·B + D of one `tcgen05.mma`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa.described_product import DescribedProduct

from .arithmetic import arithmetic
from .floats import Inputs, addend_of, exact, fast, sides_of
from .product import integers

Matrix = NDArray[Any]


def multiply_tensors(
    form: DescribedProduct,
    a: Matrix,
    b: Matrix,
    c: Matrix,
    scales: tuple[Matrix, Matrix] | None = None,
    *,
    arch: str,
    numerics: str,
) -> Matrix:
    """Execute one product.

    Args:
        form: the product.
        a: values of A, (m, k).
        b: values of B, (k, n).
        c: values of D before, (m, n), of its element type.
        scales: those of A, (m, chunks), and of B, (chunks, n), of a block-scaled product.
        arch: the target whose arithmetic is meant.
        numerics: `exact` or `fast`, as for `product.multiply`; `algebraic` of integers alone.

    Returns:
        D, (m, n), of its element type.
    """
    a, b, c = a[None], b[None], c[None]
    inputs = Inputs(a, b, c)
    if scales is not None:
        inputs = replace(inputs, scale_a=scales[0][None], scale_b=scales[1][None])
    if not form.operand("a").type.is_float:
        d = integers(form, a.astype(np.float64), b.astype(np.float64), c)
    elif numerics == "fast":
        with np.errstate(all="ignore"):
            d = fast(inputs).astype(c.dtype)
    else:
        rule = arithmetic(form, arch)
        sides = sides_of(form, inputs, rule)
        d = exact(form, rule, sides, addend_of(form, c)).transpose(2, 0, 1)
    found: Matrix = np.ascontiguousarray(d[0])
    return found
