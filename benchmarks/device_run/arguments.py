"""Arguments of a kernel from what its ABI says (`tilec.compiler.abi`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

from .matrix import Matrix

_SCALARS = {"f32": ctypes.c_float, "f64": ctypes.c_double, "i32": ctypes.c_int32}

Encode = Callable[[Mapping[str, Any], int], Any]
"""Makes a tensor map of a description and an address: `Cuda.tensor_map`."""


def launched(fields: Mapping[str, Any], grid: Sequence[int], sms: int) -> Sequence[int]:
    """The CTAs that are launched for a grid: of a kernel whose CTAs take several of it, few.

    Args:
        fields: what is said of the kernel.
        grid: CTAs along x, y and z.
        sms: multiprocessors of the GPU.
    """
    of_cluster = prod(fields.get("cluster", ()))
    if "cluster_tiles" in fields:
        steps = zip(grid, fields["cluster_tiles"], strict=False)
        return of_cluster * prod(-(-extent // step) for extent, step in steps), 1, 1
    if "ctas_per_sm" not in fields:
        return grid
    return of_cluster * min(prod(grid), max(1, sms * fields["ctas_per_sm"] // of_cluster)), 1, 1


def values(
    arguments: Sequence[Mapping[str, Any]],
    matrices: Mapping[str, Matrix],
    scalars: Mapping[str, float],
    grid: Sequence[int],
    encode: Encode,
) -> list[Any]:
    """What is passed for each parameter: ctypes scalars, and tensor maps.

    Args:
        arguments: of the kernel.
        matrices: by name: a pointer, then what extents and strides the kernel leaves open.
        scalars: the other arguments by name.
        grid: CTAs along x, y and z, of which a kernel may take the numbers.
        encode: makes tensor maps.

    Raises:
        ValueError: for a matrix that is not what the kernel was promised.
    """
    found: list[Any] = []
    given = [one["name"] for one in arguments if one["kind"] not in ("grid", "tensor_map")]
    for argument in arguments:
        if argument["kind"] == "tensor_map":
            found.append(_map(argument, matrices[given[argument["array"]]], encode))
            continue
        if argument["kind"] == "grid":
            found.append(ctypes.c_int32(grid[argument["axis"]]))
            continue
        name = argument["name"]
        if argument["kind"] == "scalar":
            type_ = _SCALARS.get(argument["type"], ctypes.c_int64)
            found.append(type_(scalars[name]))
            continue
        shape = matrices[name].shape
        strides = _strides(shape)
        _keep(argument, shape, strides)
        known = (*argument["shape"], *argument["strides"], argument["offset"])
        extents = (*shape, *strides, 0)
        found.append(ctypes.c_uint64(matrices[name].pointer))
        found += [ctypes.c_int64(v) for v, k in zip(extents, known, strict=True) if k is None]
    return found


def _strides(shape: Sequence[int]) -> list[int]:
    return [prod(shape[axis + 1 :]) for axis in range(len(shape))]


def _keep(argument: Mapping[str, Any], shape: Sequence[int], strides: Sequence[int]) -> None:
    """Hold a matrix against what is known and promised of it.

    Raises:
        ValueError: naming what differs.
    """
    promised = argument.get("promised", {})
    for what, extents in (("shape", shape), ("strides", strides)):
        for known, extent in zip(argument[what], extents, strict=True):
            if known is not None and known != extent:
                raise ValueError(
                    f"{argument['name']}: {what} {list(extents)}, not {argument[what]}"
                )
    for what, extents in (("sizes", shape), ("strides", strides)):
        for factor, extent in zip(promised.get(what, ()), extents, strict=False):
            if extent % factor:
                raise ValueError(
                    f"{argument['name']}: {what} {list(extents)} are no multiples of "
                    f"{promised[what]}, which its kernel was promised"
                )


def _map(argument: Mapping[str, Any], matrix: Matrix, encode: Encode) -> Any:
    """The tensor map of a matrix."""
    size = matrix.nbytes // prod(matrix.shape)
    described = {
        **{name: argument[name] for name in ("type", "box", "swizzle")},
        "shape": list(matrix.shape),
        "strides": [size * stride for stride in _strides(matrix.shape)],
    }
    return encode(described, matrix.pointer)
