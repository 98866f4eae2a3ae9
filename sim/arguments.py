"""Arguments of a launch as the bytes of the kernel's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from tilec.isa.host_memory import host_blocks
from tilec.isa.launch import encode

from .alu import Array
from .errors import LaunchError
from .memory import GLOBAL_BASE, Memory
from .placement import Placement

if TYPE_CHECKING:
    from .tensor_map import TensorMap

_NO_MAPS = (np.ndarray, np.generic, int, float, bytes, tuple, type(None))
"""What most arguments are, none of them a tensor map."""


@dataclass(frozen=True)
class Image:
    """The arguments of a launch as bytes, for another process.

    Attributes:
        blocks: memory of the host: what it holds, its size, whether it may change, its bytes, or
            none of them.
        parameters: the bytes of the kernel's parameters.
    """

    blocks: Sequence[tuple[str, int, bool, Array]]
    parameters: bytes


def place(image: Image, placement: Placement, memory: Memory) -> None:
    """Place the arguments of another process at the same addresses."""
    for name, size, writable, data in image.blocks:
        memory.allocate(name, size, data=data, writable=writable)
    placement.parameters(np.frombuffer(image.parameters, np.uint8))


class Buffers:
    """The host's arrays of a launch in the simulator's memory, overlapping ones in one block."""

    def __init__(self, memory: Memory, args: Sequence[object]) -> None:
        self._memory = memory
        self.packed = b""
        """The bytes of the parameters."""
        self._blocks = [
            (
                block,
                memory.allocate(block.name, block.size, data=block.read(), writable=block.writable),
            )
            for block in host_blocks(args)
        ]

    def address(self, value: object, name: str) -> int | None:
        """The address of an array; 0 for none and empty ones, None for what is not an array."""
        del name
        if value is None:
            return 0
        if not isinstance(value, np.ndarray) or value.ndim == 0:
            return None
        for block, address in self._blocks:
            place = block.place(value)
            if place is not None:
                return address + place
        return 0  # it has no elements

    @property
    def image(self) -> Image:
        """The arguments as they are, for another process."""
        blocks = [(one.name, one.size, one.writable, one.read()) for one, _ in self._blocks]
        return Image(blocks, self.packed)

    @property
    def outline(self) -> Image:
        """The same without the bytes of the blocks."""
        nothing = np.zeros(0, np.uint8)
        blocks = [(one.name, one.size, one.writable, nothing) for one, _ in self._blocks]
        return Image(blocks, self.packed)

    def copy_back(self) -> None:
        """Change the arrays in place."""
        for block, address in self._blocks:
            if block.writable:
                start = address - GLOBAL_BASE
                block.write(self._memory.data[start : start + block.size])


def pack(placement: Placement, memory: Memory, args: Sequence[object]) -> Buffers:
    """Place arrays and parameters in memory.

    Raises:
        LaunchError: naming the parameter whose argument does not fit.
    """
    if not all(isinstance(arg, _NO_MAPS) for arg in args):
        from .tensor_map import TensorMap  # noqa: PLC0415 (few kernels take any)

        arrays = [arg.array if isinstance(arg, TensorMap) else arg for arg in args]
        buffers = Buffers(memory, arrays)
        args = [_encoded(arg, buffers) if isinstance(arg, TensorMap) else arg for arg in args]
    else:
        buffers = Buffers(memory, args)
    parameters = placement.kernel.parameters
    buffers.packed, _ = encode(placement.kernel.name, parameters, args, buffers.address)
    placement.parameters(np.frombuffer(buffers.packed, np.uint8))
    return buffers


def _encoded(map_: TensorMap, buffers: Buffers) -> bytes:
    """A tensor map as its 128 bytes."""
    address = buffers.address(map_.array, "the array of a tensor map")
    assert address is not None
    described = replace(map_.descriptor, address=address)
    problem = described.problem()
    if problem is not None:
        raise LaunchError(f"tensor map: {problem}")
    return described.encode()
