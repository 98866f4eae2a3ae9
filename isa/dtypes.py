"""The numpy type that holds one value of each element type; ml_dtypes has the narrow ones.

Imported only where numbers are handled: the rest of `tilec.isa` does not need numpy.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .types import ElementType

_TYPES: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "tf32": np.float32,  # of which the low 13 bits do not count
    "f32": np.float32,
    "f64": np.float64,
    "e4m3": ml_dtypes.float8_e4m3fn,
    "e5m2": ml_dtypes.float8_e5m2,
    "e3m2": ml_dtypes.float6_e3m2fn,
    "e2m3": ml_dtypes.float6_e2m3fn,
    "e2m1": ml_dtypes.float4_e2m1fn,
    "ue8m0": ml_dtypes.float8_e8m0fnu,
    "ue4m3": ml_dtypes.float8_e4m3fn,  # with the sign bit zero
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
    "s8": np.int8,
    "u8": np.uint8,
    "s32": np.int32,
    "b1": np.uint8,
    "b4": np.uint8,
    "b8": np.uint8,
    "b16": np.uint16,
    "b32": np.uint32,
}


def numpy_type(type_: ElementType) -> np.dtype[Any]:
    """The numpy type of an element: a byte at least, its bits the low ones."""
    found: np.dtype[Any] = np.dtype(_TYPES[type_.name])
    return found
