"""What a launch passes, on whatever runs it: extents, arrays, values as bytes of parameters.

PTX ISA, "Kernel Function Parameters". Imported only where kernels are launched: it needs numpy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .errors import LaunchError
from .limits import CTAS_ALONG_X, LARGEST_CLUSTER
from .types import TYPE_BITS
from .wording import counted

Extents = tuple[int, int, int]
"""CTAs of a grid, or threads of a CTA, along x, y and z."""

GRID_LIMIT: Extents = (CTAS_ALONG_X, 65535, 65535)
"""The most CTAs along x, y and z (CUDA Programming Guide, "Compute Capabilities")."""

LOCAL_LIMIT = 512 * 1024
"""The most bytes of local memory of a thread (as above)."""

Address = Callable[[object, str], int | None]
"""The address of a value that is passed as a pointer, called by a name; None for other values."""


class Parameter(Protocol):
    """A `.param` of an `.entry`: its name, type, and size and alignment in bytes."""

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def type(self) -> str: ...  # noqa: D102
    @property
    def size(self) -> int: ...  # noqa: D102
    @property
    def align(self) -> int: ...  # noqa: D102


def extents(value: int | Sequence[int], what: str) -> Extents:
    """One to three extents as three.

    Raises:
        LaunchError: calling them `what`, unless they are positive integers.
    """
    given = tuple(value) if isinstance(value, Iterable) else (value,)
    whole = all(isinstance(n, int | np.integer) and n > 0 for n in given)
    if not 1 <= len(given) <= 3 or not whole:
        raise LaunchError(f"{what} is {value!r}; it takes one to three positive integers")
    x, y, z = (*(int(n) for n in given), 1, 1)[:3]
    return x, y, z


def check_cluster(grid: Extents, cluster: Extents) -> None:
    """Check that a grid is made of whole clusters, and that these are no larger than any is.

    Raises:
        LaunchError: naming the dimension.
    """
    if prod(cluster) > LARGEST_CLUSTER:
        raise LaunchError(
            f"a cluster of {cluster} is {counted(prod(cluster), 'CTA')}; at most {LARGEST_CLUSTER} "
            "are legal"
        )
    for axis, ctas, of in zip("xyz", grid, cluster, strict=True):
        if ctas % of:
            raise LaunchError(
                f"a grid of {counted(ctas, 'CTA')} along {axis} is not a whole number of "
                f"clusters of {of}"
            )


def span(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The memory from an array's first to its last element, what lies between them included.

    Raises:
        LaunchError: for an array that runs backwards.
    """
    item = array.itemsize
    if any(stride < 0 or stride % item for stride in array.strides):
        raise LaunchError(
            f"{name} has strides {array.strides}; a pointer takes a contiguous array, "
            "such as numpy.ascontiguousarray makes"
        )
    steps = zip(array.shape, array.strides, strict=True)
    count = 1 + sum((extent - 1) * stride // item for extent, stride in steps)
    return _strided(array, (count,), (item,))


def put_back(array: np.ndarray[Any, Any], data: np.ndarray[Any, Any]) -> None:
    """Change an array in place to what the bytes of its `span` have become."""
    array[...] = _strided(data.view(array.dtype), array.shape, array.strides)


def _strided(
    array: np.ndarray[Any, Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """A read-only view; as bytes in between, since numpy does not know every type of ml_dtypes."""
    raw = array.view(np.dtype((np.void, array.itemsize)))
    return as_strided(raw, shape, strides, writeable=False).view(array.dtype)


def place_parameters(parameters: Sequence[Parameter]) -> tuple[list[int], int]:
    """Where each parameter of a kernel begins, and how many bytes they take."""
    offsets, end = [], 0
    for parameter in parameters:
        start = -(-end // parameter.align) * parameter.align
        offsets.append(start)
        end = start + parameter.size
    return offsets, end


def encode(
    kernel: str, parameters: Sequence[Parameter], args: Sequence[object], address: Address
) -> tuple[bytes, list[int]]:
    """Arguments as the bytes that a kernel's parameters take.

    Args:
        kernel: the kernel's name.
        parameters: what it takes, in order.
        args: one for each: numpy or Python scalars, taken to the parameter's type; what `address`
            has an address for; for structures passed by value bytes, a numpy structure, or
            a tuple of pointers and numpy scalars.
        address: gives pointers their values.

    Returns:
        The bytes, and where in them each parameter begins.

    Raises:
        LaunchError: naming the parameter whose argument does not fit.
    """
    if len(args) != len(parameters):
        named = ", ".join(f".{p.type} {p.name}" for p in parameters)
        raise LaunchError(
            f"kernel '{kernel}' takes {counted(len(parameters), 'argument')} ({named}), not "
            f"{len(args)}"
        )
    offsets, size = place_parameters(parameters)
    packed = bytearray(size)
    for index, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        start = offsets[index]
        packed[start : start + parameter.size] = _bytes(parameter, value, index, address)
    return bytes(packed), offsets


def _bytes(parameter: Parameter, value: object, index: int, address: Address) -> bytes:
    pointer = address(value, f"argument {index}")
    if pointer is not None:
        if parameter.size != 8 or parameter.type[0] == "f":
            raise LaunchError(
                f"argument {index} is a pointer and parameter '{parameter.name}' "
                f"of .{parameter.type} is not"
            )
        return pointer.to_bytes(8, "little")
    if isinstance(value, tuple | list):
        return _by_value(parameter, _structure(value, index, address), index)
    if parameter.size * 8 != TYPE_BITS[parameter.type]:
        return _by_value(parameter, value, index)
    return _scalar(parameter, value, index)


def _structure(members: Sequence[object], index: int, address: Address) -> bytes:
    """Members of a structure, each at a multiple of its size, as C lays them out."""
    packed, align = bytearray(), 1
    for number, member in enumerate(members):
        pointer = address(member, f"member {number} of argument {index}")
        if pointer is not None:
            data = pointer.to_bytes(8, "little")
        elif isinstance(member, np.generic):
            data = member.tobytes()
        else:
            raise LaunchError(
                f"member {number} of argument {index} is {member!r}; a structure takes arrays, "
                "None and numpy scalars"
            )
        align = max(align, len(data))
        packed.extend(bytes(-len(packed) % len(data)))
        packed.extend(data)
    packed.extend(bytes(-len(packed) % align))
    return bytes(packed)


def _by_value(parameter: Parameter, value: object, index: int) -> bytes:
    data = value if isinstance(value, bytes | bytearray) else None
    if isinstance(value, np.generic | np.ndarray):
        data = value.tobytes()
    if data is None or len(data) != parameter.size:
        given = "" if data is None else f"; these are {len(data)}"
        raise LaunchError(
            f"argument {index}: parameter '{parameter.name}' takes "
            f"{counted(parameter.size, 'byte')} by "
            f"value, as bytes, a numpy structure or a tuple of its members{given}"
        )
    return bytes(data)


def _shown(value: object) -> str:
    """A value in a message; Python writes out no integers of thousands of digits."""
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    return repr(value)


def _scalar(parameter: Parameter, value: object, index: int) -> bytes:
    type_, bits = parameter.type, TYPE_BITS[parameter.type]
    if isinstance(value, bytes | bytearray):
        return _by_value(parameter, value, index)
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biufV":
        raise LaunchError(
            f"argument {index} is {_shown(value)}; parameter '{parameter.name}' takes a .{type_}"
        )
    if array.dtype.itemsize * 8 == bits and isinstance(value, np.generic):
        given_float = array.dtype.kind in "fV"
        if given_float or type_[0] != "f":
            return array.tobytes()
    if type_[0] == "f" or (array.dtype.kind in "fV" and type_[0] == "b" and bits > 8):
        return np.asarray(value, f"f{bits // 8}").tobytes()
    try:
        number = int(array.item())
    except (OverflowError, TypeError, ValueError):  # infinite, no number, or of no known type
        number = None
    if number is None or number != value:
        raise LaunchError(
            f"argument {index} is {value!r}; parameter '{parameter.name}' takes an integer"
        )
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"argument {index} is {value!r}, which .{type_} cannot hold")
    return (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
