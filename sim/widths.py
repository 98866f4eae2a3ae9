"""The dtypes of registers."""

from __future__ import annotations

from typing import Any

import numpy as np

DTYPES: dict[int, np.dtype[Any]] = {
    1: np.dtype(np.bool_),
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
    128: np.dtype(np.complex128),  # 16 bytes that nothing computes with
}


def dtype_of(bits: int) -> np.dtype[Any]:
    """The dtype of a register of so many bits; 1 is a predicate."""
    return DTYPES[bits]
