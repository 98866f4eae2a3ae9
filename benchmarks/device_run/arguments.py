"""Arguments of a kernel from what its ABI says (`tilec.compiler.abi`)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from .matrix import Matrix


def values(arguments: Sequence[Mapping[str, Any]], matrices: Mapping[str, Matrix]) -> list[Any]:
    """A ctypes scalar for each parameter: pointers, then what extents and strides leave open."""
    found: list[Any] = []
    for argument in arguments:
        matrix = matrices[argument["name"]]
        found.append(ctypes.c_uint64(matrix.pointer))
        strides = (matrix.shape[1], 1)
        open_ = [
            size
            for said, size in zip(
                (*argument["shape"], *argument["strides"], argument["offset"]),
                (*matrix.shape, *strides, 0),
                strict=True,
            )
            if said is None
        ]
        found += map(ctypes.c_int64, open_)
    return found
