"""The arrays of a launch: those of a GPU as they are, those of the host copied there and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LaunchError
from tilec.isa.host_memory import HostBlock, host_blocks

from ..tensor_maps import BoxedArray
from .device import Device
from .memory import allocate
from .views import View, is_shared, view


class Arrays:
    """The arrays passed to one launch.

    Attributes:
        device: the GPU.
        stream: handle of the stream that it is launched on.
        kept: what must live as long as the launch.
    """

    def __init__(self, device: Device, stream: int) -> None:
        self.device = device
        self.stream = stream
        self.kept: list[object] = []
        self._copies: list[tuple[HostBlock, int]] = []

    @property
    def copied(self) -> bool:
        """Whether some are of the host."""
        return bool(self._copies)

    def copy(self, args: Sequence[Any]) -> None:
        """Copy the arrays of the host to the GPU, those that overlap as one memory.

        Raises:
            LaunchError: for an array that runs backwards.
            OutOfMemoryError: if they do not fit.
        """
        for block in host_blocks(args):
            pointer = allocate(self.device, block.size, block.name)
            self._copies.append((block, pointer))
            data = block.read()
            self.kept.append(data)
            where = data.ctypes.data
            self.device.call("cuMemcpyHtoDAsync", pointer, where, data.nbytes, self.stream)

    def address(self, value: Any, name: str) -> int | None:
        """The address of an array; 0 for none and empty ones, None for what is not an array.

        Raises:
            LaunchError: for an array of another GPU.
        """
        if value is None:
            return 0
        if isinstance(value, np.ndarray) and value.ndim:
            return self._copied(value)
        return self._shared(value, name) if is_shared(value) or isinstance(value, View) else None

    def mapped(self, value: Any) -> Any:
        """An argument as it is, of an array's tensor map the bytes."""
        if not isinstance(value, BoxedArray):
            return value
        from .tensor_map import encode_map  # noqa: PLC0415 (for Hopper only)

        address = self.address(value.array, "the array of a tensor map")
        assert address is not None
        return encode_map(value, address)

    def _copied(self, array: NDArray[Any]) -> int:
        for block, pointer in self._copies:
            place = block.place(array)
            if place is not None:
                return pointer + place
        return 0  # it has no elements

    def _shared(self, value: Any, name: str) -> int:
        seen = value if isinstance(value, View) else view(value, name, self.stream)
        if seen.device not in (self.device.ordinal, -1):
            raise LaunchError(f"{name} is on GPU {seen.device}; the kernel is on {self.device}")
        self.kept.append(seen)
        return seen.pointer

    def copy_back(self) -> None:
        """Change the host's arrays in place, when the stream has come to its end.

        Raises:
            FaultError: if a kernel has faulted.
        """
        results = []
        for block, pointer in self._copies:
            if block.writable:
                result = np.empty(block.size, np.uint8)
                where = result.ctypes.data
                self.device.call("cuMemcpyDtoHAsync", where, pointer, block.size, self.stream)
                results.append((block, result))
        self.device.call("cuStreamSynchronize", self.stream)
        for block, result in results:
            block.write(result)

    def close(self) -> None:
        """Free what was copied; after a fault there is nothing to free."""
        for _, pointer in self._copies:
            if not self.device.faulted:
                self.device.call("cuMemFree", pointer)
        self._copies.clear()
