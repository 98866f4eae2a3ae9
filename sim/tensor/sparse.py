"""A of `mma.sp`, from its stored elements and metadata to the matrix that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Product
from tilec.layout import logical_column


def logical_columns(form: Product, codes: NDArray[np.intp]) -> NDArray[np.intp]:
    """The logical column of every stored element, (warps, m, stored k).

    Args:
        form: a sparse form.
        codes: (warps, m, chunks), a 4-bit code each.
    """
    stored = np.arange(form.operand("a").cols)
    chunk = stored // (len(stored) // codes.shape[2])
    return np.asarray(logical_column(form, codes[:, :, chunk], stored))


def expand(k: int, stored: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    """Stored elements at their logical columns, (warps, m, k); zero elsewhere."""
    dense = np.zeros((*stored.shape[:2], k), stored.dtype)
    np.put_along_axis(dense, columns, stored, axis=2)
    return dense
