"""Arguments of a kernel from what its ABI says (`tilec.compiler.abi`)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from .matrix import Matrix

_SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32}


def launched(fields: Mapping[str, Any], grid: Sequence[int], sms: int) -> Sequence[int]:
    """The CTAs that are launched for a grid: of a kernel whose CTAs take several of it, few.

    Args:
        fields: what is said of the kernel.
        grid: CTAs along x, y and z.
        sms: multiprocessors of the GPU.
    """
    if "ctas_per_sm" not in fields:
        return grid
    of_cluster = prod(fields.get("cluster", ()))
    return of_cluster * min(prod(grid), max(1, sms * fields["ctas_per_sm"] // of_cluster)), 1, 1


def values(
    arguments: Sequence[Mapping[str, Any]],
    matrices: Mapping[str, Matrix],
    scalars: Mapping[str, float],
    grid: Sequence[int],
) -> list[Any]:
    """A ctypes scalar for each parameter.

    Args:
        arguments: of the kernel.
        matrices: by name: a pointer, then what extents and strides the kernel leaves open.
        scalars: the other arguments by name.
        grid: CTAs along x, y and z, of which a kernel may take the numbers.
    """
    found: list[Any] = []
    for argument in arguments:
        if argument["kind"] == "grid":
            found.append(ctypes.c_int32(grid[argument["axis"]]))
            continue
        name = argument["name"]
        if argument["kind"] == "scalar":
            type_ = _SCALARS.get(argument["type"], ctypes.c_int64)
            found.append(type_(scalars[name]))
            continue
        shape = matrices[name].shape
        strides = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
        known = (*argument["shape"], *argument["strides"], argument["offset"])
        given = (*shape, *strides, 0)
        found.append(ctypes.c_uint64(matrices[name].pointer))
        found += [ctypes.c_int64(v) for v, k in zip(given, known, strict=True) if k is None]
    return found
