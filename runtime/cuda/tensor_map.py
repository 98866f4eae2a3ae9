"""Tensor maps by the driver, `cuTensorMapEncode…`, which needs no GPU's memory."""

from __future__ import annotations

import ctypes
from typing import Any

from tilec.isa import LaunchError
from tilec.isa.limits import MAP_ALIGNMENT, MAP_BYTES

from ..tensor_maps import BoxedArray
from .driver import bindings, call

_TYPES = {
    "f16": "FLOAT16",
    "bf16": "BFLOAT16",
    "f32": "FLOAT32",
    "f64": "FLOAT64",
    "i8": "UINT8",
    "i16": "UINT16",
    "i32": "INT32",
    "i64": "INT64",
}
SWIZZLES = {"none": "NONE", "32B": "32B", "64B": "64B", "128B": "128B"}
"""How `CUtensorMapSwizzle` ends, of each swizzle."""


def map_type(type_: str, size: int) -> str:
    """The end of the name of a `CUtensorMapDataType`.

    Args:
        type_: element type, as MLIR writes it.
        size: bytes of an element.

    Raises:
        LaunchError: for elements that no map has.
    """
    name = _TYPES.get(type_, "UINT8" if size == 1 else None)
    if name is None:
        raise LaunchError(f"no tensor map has elements of {type_}")
    return name


def encode_map(boxed: BoxedArray, address: int) -> bytes:
    """The 128 bytes of a tensor map; dimension 0 is the array's last.

    Args:
        boxed: the array and the box.
        address: of its first element on the GPU.

    Raises:
        LaunchError: for elements that no map has.
        CudaError: if the driver refuses it.
    """
    driver = bindings()
    name = map_type(boxed.type, boxed.bytes)

    def words(values: Any) -> list[Any]:
        return [driver.cuuint64_t(value) for value in values]

    def halves(values: Any) -> list[Any]:
        return [driver.cuuint32_t(value) for value in values]

    # Of an extent of 1 no second element tells the stride, but the driver wants a legal one.
    strides = [
        stride if extent > 1 else MAP_ALIGNMENT
        for extent, stride in zip(boxed.shape, boxed.strides, strict=True)
    ]
    walked = boxed.im2col
    way, box = "Tiled", list[Any]([halves(boxed.box[::-1])])
    if walked is not None:
        way = "Im2col"
        box = [list(walked.lower), list(walked.upper), walked.channels, walked.pixels]
    made = call(
        f"cuTensorMapEncode{way}",
        getattr(driver.CUtensorMapDataType, f"CU_TENSOR_MAP_DATA_TYPE_{name}"),
        len(boxed.shape),
        address,
        words(boxed.shape[::-1]),
        words(strides[-2::-1]),
        *box,
        halves(boxed.element_strides[::-1] or [1] * len(boxed.shape)),
        driver.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        getattr(driver.CUtensorMapSwizzle, f"CU_TENSOR_MAP_SWIZZLE_{SWIZZLES[boxed.swizzle]}"),
        driver.CUtensorMapL2promotion.CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
        driver.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )
    return ctypes.string_at(made.getPtr(), MAP_BYTES)
