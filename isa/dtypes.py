"""The numpy type that holds one value of each element type; ml_dtypes has the narrow ones.

Imported only where numbers are handled: the rest of `tilec.isa` does not need numpy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .types import ElementType


@cache
def numpy_type(type_: ElementType) -> np.dtype[Any]:
    """The numpy type of an element: a byte at least, its bits the low ones."""
    scalar: type[np.generic] | None = getattr(np, type_.numpy, None)
    if scalar is None:
        import ml_dtypes  # noqa: PLC0415 (a launch of numpy's types does without)

        scalar = getattr(ml_dtypes, type_.numpy)
    found: np.dtype[Any] = np.dtype(scalar)
    return found
