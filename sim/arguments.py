"""Arguments of a launch as the bytes of the kernel's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.isa.launch import encode, put_back, span

from .memory import GLOBAL_BASE, Memory
from .placement import Placement


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
        data = np.ascontiguousarray(span(array, name))
        address = memory.allocate(name, data.nbytes, data=data, writable=array.flags.writeable)
        self._passed.append((array, address))
        return address

    def copy_back(self, memory: Memory) -> None:
        """Change the arrays in place."""
        for array, address in self._passed:
            if array.flags.writeable:
                start = address - GLOBAL_BASE
                put_back(array, memory.data[start : start + span(array, "").nbytes])


def pack(placement: Placement, memory: Memory, args: Sequence[Any]) -> Buffers:
    """Place arrays and parameters in memory.

    Raises:
        LaunchError: naming the parameter whose argument does not fit.
    """
    buffers = Buffers()

    def address(value: Any, name: str) -> int | None:
        if value is None:
            return 0
        if not isinstance(value, np.ndarray) or value.ndim == 0:
            return None
        return buffers.address(memory, value, name) if value.nbytes else 0

    parameters = placement.kernel.parameters
    packed, offsets = encode(placement.kernel.name, parameters, args, address)
    names = [parameter.name for parameter in parameters]
    placement.parameters(np.frombuffer(packed, np.uint8), dict(zip(names, offsets, strict=True)))
    return buffers
