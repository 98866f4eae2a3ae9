"""Arguments of a launch as the bytes of the kernel's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .errors import LaunchError
from .memory import GLOBAL_BASE, Memory
from .placement import Placement
from .ptx.module import TYPE_BITS, Variable


class Buffers:
    """Arrays passed as pointers, with the addresses they were given."""

    def __init__(self) -> None:
        self._passed: list[tuple[np.ndarray[Any, Any], int]] = []

    def address(self, memory: Memory, array: np.ndarray[Any, Any], name: str) -> int:
        """The address of an array's first element; an array passed twice has one address.

        Raises:
            LaunchError: for an array that runs backwards.
        """
        for known, address in self._passed:
            if known is array:
                return address
        data = np.ascontiguousarray(_span(array, name))
        address = memory.allocate(name, data.nbytes, data=data, writable=array.flags.writeable)
        self._passed.append((array, address))
        return address

    def copy_back(self, memory: Memory) -> None:
        """Change the arrays in place."""
        for array, address in self._passed:
            if array.flags.writeable:
                start = address - GLOBAL_BASE
                size = _span(array, "").nbytes
                data = memory.data[start : start + size].view(array.dtype)
                array[...] = _strided(data, array.shape, array.strides)


def _span(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """The memory from an array's first to its last element, what lies between them included."""
    item = array.itemsize
    if any(stride < 0 or stride % item for stride in array.strides):
        raise LaunchError(
            f"{name} has strides {array.strides}; a pointer takes an array whose elements "
            "follow each other, as numpy.ascontiguousarray makes it"
        )
    steps = zip(array.shape, array.strides, strict=True)
    count = 1 + sum((extent - 1) * stride // item for extent, stride in steps)
    return _strided(array, (count,), (item,))


def _strided(
    array: np.ndarray[Any, Any], shape: tuple[int, ...], strides: tuple[int, ...]
) -> np.ndarray[Any, Any]:
    """A read-only view; as bytes in between, since numpy does not know every type of ml_dtypes."""
    raw = array.view(np.dtype((np.void, array.itemsize)))
    return as_strided(raw, shape, strides, writeable=False).view(array.dtype)


def pack(placement: Placement, memory: Memory, args: Sequence[Any]) -> Buffers:
    """Place arrays and parameters in memory.

    Raises:
        LaunchError: naming the parameter whose argument does not fit.
    """
    parameters = placement.kernel.parameters
    if len(args) != len(parameters):
        named = ", ".join(f".{p.type} {p.name}" for p in parameters)
        raise LaunchError(
            f"kernel '{placement.kernel.name}' takes {len(parameters)} arguments ({named}), "
            f"not {len(args)}"
        )
    buffers = Buffers()
    offsets: dict[str, int] = {}
    packed = bytearray()
    for index, (parameter, value) in enumerate(zip(parameters, args, strict=True)):
        start = -(-len(packed) // parameter.align) * parameter.align
        packed.extend(bytes(start - len(packed)))
        offsets[parameter.name] = start
        packed.extend(_bytes(memory, buffers, parameter, value, index))
    placement.parameters(np.frombuffer(bytes(packed), np.uint8), offsets)
    return buffers


def _is_pointer(value: Any) -> bool:
    return value is None or (isinstance(value, np.ndarray) and value.ndim > 0)


def _pointer(memory: Memory, buffers: Buffers, value: Any, name: str) -> bytes:
    if value is None or value.nbytes == 0:
        return bytes(8)
    return buffers.address(memory, value, name).to_bytes(8, "little")


def _bytes(memory: Memory, buffers: Buffers, parameter: Variable, value: Any, index: int) -> bytes:
    bits = TYPE_BITS[parameter.type]
    scalar = parameter.size * 8 == bits
    if _is_pointer(value):
        if parameter.size != 8 or parameter.type[0] == "f":
            raise LaunchError(
                f"argument {index} is a pointer and parameter '{parameter.name}' "
                f"of .{parameter.type} is not"
            )
        return _pointer(memory, buffers, value, f"argument {index}")
    if isinstance(value, tuple | list):
        return _by_value(parameter, _structure(memory, buffers, value, index), index)
    if not scalar:
        return _by_value(parameter, value, index)
    return _scalar(parameter, value, index)


def _structure(memory: Memory, buffers: Buffers, members: Sequence[Any], index: int) -> bytes:
    """Members of a structure, each at a multiple of its size, as C lays them out."""
    packed, align = bytearray(), 1
    for number, member in enumerate(members):
        if _is_pointer(member):
            data = _pointer(memory, buffers, member, f"member {number} of argument {index}")
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


def _by_value(parameter: Variable, value: Any, index: int) -> bytes:
    data = value if isinstance(value, bytes | bytearray) else None
    if isinstance(value, np.generic | np.ndarray):
        data = value.tobytes()
    if data is None or len(data) != parameter.size:
        given = "" if data is None else f"; these are {len(data)}"
        raise LaunchError(
            f"argument {index}: parameter '{parameter.name}' takes {parameter.size} bytes by "
            f"value, as bytes, a numpy structure or a tuple of its members{given}"
        )
    return bytes(data)


def _scalar(parameter: Variable, value: Any, index: int) -> bytes:
    type_, bits = parameter.type, TYPE_BITS[parameter.type]
    if isinstance(value, bytes | bytearray):
        return _by_value(parameter, value, index)
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biufV":
        raise LaunchError(
            f"argument {index} is {value!r}; parameter '{parameter.name}' takes a .{type_}"
        )
    if array.dtype.itemsize * 8 == bits and isinstance(value, np.generic):
        given_float = array.dtype.kind in "fV"
        if given_float or type_[0] != "f":
            return array.tobytes()
    if type_[0] == "f" or (array.dtype.kind in "fV" and type_[0] == "b" and bits > 8):
        return np.asarray(value, f"f{bits // 8}").tobytes()
    number = int(value)
    if number != value:
        raise LaunchError(
            f"argument {index} is {value!r}; parameter '{parameter.name}' takes an integer"
        )
    if not -(1 << (bits - 1)) <= number < 1 << bits:
        raise LaunchError(f"argument {index} is {value!r}, which .{type_} cannot hold")
    return (number & ((1 << bits) - 1)).to_bytes(bits // 8, "little")
