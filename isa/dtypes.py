"""The numpy type that holds one value of each element type; ml_dtypes has the narrow ones.

Imported only where numbers are handled: the rest of `tilec.isa` does not need numpy.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np

from .types import ElementType


@cache
def numpy_type(type_: ElementType) -> np.dtype[Any]:
    """The numpy type of an element: a byte at least, its bits the low ones."""
    module = np if hasattr(np, type_.numpy) else ml_dtypes
    found: np.dtype[Any] = np.dtype(getattr(module, type_.numpy))
    return found
