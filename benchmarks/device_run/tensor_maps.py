"""Tensor maps of launches, as a pack describes them: by the driver, and on the simulator.

A description names the parameter with the array (`array`), the array's `type`, `shape` and
`strides` in bytes, and the `box` and `swizzle` of a copy. `fill` is `nan` where it is not zeros,
and `promotion` the driver's code of what L2 fetches where it is not 128 bytes.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from tilec.sim import TensorMap

_BYTES = 128
_ALIGNMENT = 64
TYPE_CODES = {
    "i8": 0,
    "i16": 1,
    "i32": 3,
    "i64": 5,
    "f16": 6,
    "f32": 7,
    "f64": 8,
    "bf16": 9,
    "f32.ftz": 10,
    "tf32": 11,
    "tf32.ftz": 12,
}
"""CUtensorMapDataType."""
_SWIZZLES = {"none": 0, "32B": 1, "64B": 2, "128B": 3}
_PROMOTION = 2
"""CU_TENSOR_MAP_L2_PROMOTION_L2_128B."""


def simulated_map(described: Mapping[str, Any], memory: np.ndarray) -> TensorMap:
    """The simulator's map of an array that begins a memory of bytes."""
    size = described["strides"][-1]
    array = np.ndarray(
        tuple(described["shape"]),
        np.float16 if described["type"] == "f16" else np.dtype(f"<u{size}"),
        memory,
        0,
        tuple(described["strides"]),
    )
    return TensorMap(array, box=described["box"], swizzle=described["swizzle"])


def encoded_arguments(described: Mapping[str, Any], address: int) -> tuple[Any, str, list[Any]]:
    """What the driver fills in, the function that does, and its arguments; dimension 0 is the last.

    A map of im2col has `lower` and `upper` corners, `channels` and `pixels` instead of a box.
    """
    room = (ctypes.c_uint8 * (_BYTES + _ALIGNMENT))()
    begin = -ctypes.addressof(room) % _ALIGNMENT
    map_ = (ctypes.c_uint8 * _BYTES).from_buffer(room, begin)
    rank = len(described["shape"])

    def numbers(kind: Any, values: list[int]) -> Any:
        return (kind * len(values))(*values)

    if "pixels" in described:
        function = "cuTensorMapEncodeIm2col"
        box = [
            numbers(ctypes.c_int, described["lower"][::-1]),
            numbers(ctypes.c_int, described["upper"][::-1]),
            ctypes.c_uint32(described["channels"]),
            ctypes.c_uint32(described["pixels"]),
        ]
    else:
        function = "cuTensorMapEncodeTiled"
        box = [numbers(ctypes.c_uint32, described["box"][::-1])]
    return (
        map_,
        function,
        [
            ctypes.byref(map_),
            TYPE_CODES.get(described["type"], 0),
            rank,
            ctypes.c_void_p(address),
            numbers(ctypes.c_uint64, described["shape"][::-1]),
            numbers(ctypes.c_uint64, described["strides"][-2::-1]),
            *box,
            numbers(ctypes.c_uint32, [1] * rank),
            0,
            _SWIZZLES[described["swizzle"]],
            described.get("promotion", _PROMOTION),
            int(described.get("fill") == "nan"),
        ],
    )
