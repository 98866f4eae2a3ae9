"""The arrays of a launch: those of a GPU as they are, those of the host copied there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LaunchError
from tilec.isa.launch import put_back, span

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
        self._copies: list[tuple[NDArray[Any], NDArray[Any], int]] = []

    @property
    def copied(self) -> bool:
        """Whether some are of the host."""
        return bool(self._copies)

    def address(self, value: Any, name: str) -> int | None:
        """The address of an array; 0 for none and empty ones, None for what is no array.

        An array of the host is copied to the GPU; passed twice it has one address.

        Raises:
            LaunchError: for an array of another GPU, or one that runs backwards.
            OutOfMemoryError: if it does not fit.
        """
        if value is None:
            return 0
        if isinstance(value, np.ndarray) and value.ndim:
            return self._copy(value, name) if value.nbytes else 0
        return self._shared(value, name) if is_shared(value) or isinstance(value, View) else None

    def _copy(self, array: NDArray[Any], name: str) -> int:
        for known, _, pointer in self._copies:
            if known is array:
                return pointer
        data = np.ascontiguousarray(span(array, name))
        pointer = allocate(self.device, data.nbytes, name)
        self._copies.append((array, data, pointer))
        self.device.call("cuMemcpyHtoDAsync", pointer, data.ctypes.data, data.nbytes, self.stream)
        return pointer

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
        for array, data, pointer in self._copies:
            if array.flags.writeable:
                result = np.empty_like(data)
                where = result.ctypes.data
                self.device.call("cuMemcpyDtoHAsync", where, pointer, data.nbytes, self.stream)
                results.append((array, result))
        self.device.call("cuStreamSynchronize", self.stream)
        for array, result in results:
            put_back(array, result)

    def close(self) -> None:
        """Free what was copied; after a fault there is nothing to free."""
        for _, _, pointer in self._copies:
            if not self.device.faulted:
                self.device.call("cuMemFree", pointer)
        self._copies.clear()
