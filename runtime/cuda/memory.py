"""Arrays in a GPU's memory."""

from __future__ import annotations

from contextlib import suppress
from math import prod
from typing import Any
from weakref import finalize

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LaunchError
from tilec.isa.wording import counted

from .device import Device, Resource
from .errors import CudaError, OutOfMemoryError


def allocate(device: Device, size: int, what: str) -> int:
    """The address of new memory of `size` bytes, more than none.

    Raises:
        OutOfMemoryError: if there is not so much, naming `what` it is for.
    """
    try:
        return int(device.call("cuMemAlloc", size))
    except OutOfMemoryError:
        free, _ = device.call("cuMemGetInfo")
        raise OutOfMemoryError(
            f"{what} takes {counted(size, 'byte')}; {device} has {counted(free, 'byte')} of free "
            "memory"
        ) from None


class Array(Resource):
    """An array in a GPU's memory, row after row; freed when nothing refers to it.

    Attributes:
        shape: its extents.
        dtype: the numpy type of its elements.
        pointer: its address.
    """

    def __init__(self, shape: tuple[int, ...], dtype: Any = np.float32, device: int = 0) -> None:
        super().__init__(device)
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)
        self.pointer = allocate(self.device, max(self.nbytes, 1), "the array")
        self._free = finalize(self, _free, self.device, self._epoch, self.pointer)
        self._free.atexit = False  # by then the driver may have gone; it frees everything itself

    @classmethod
    def of(cls, array: NDArray[Any], device: int = 0) -> Array:
        """A copy of an array of the host."""
        made = cls(array.shape, array.dtype, device)
        made.fill(array)
        return made

    @property
    def nbytes(self) -> int:
        """Its bytes."""
        size: int = prod(self.shape) * self.dtype.itemsize
        return size

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The protocol by which libraries share arrays on a GPU, version 3."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, False),
            "strides": None,
            "version": 3,
        }

    def fill(self, array: NDArray[Any]) -> None:
        """Take the elements of an array of the host.

        Raises:
            LaunchError: if it has another shape or type.
        """
        if array.shape != self.shape or array.dtype != self.dtype:
            raise LaunchError(
                f"an array of {array.dtype} {array.shape} does not fill one of "
                f"{self.dtype} {self.shape}"
            )
        data = np.ascontiguousarray(array)
        if self.nbytes:
            self._call("cuCtxSynchronize")  # for those who read what was there
            self._call("cuMemcpyHtoD", self.pointer, data.ctypes.data, self.nbytes)
            self._call("cuCtxSynchronize")  # of pageable memory the copy is only under way

    def numpy(self) -> NDArray[Any]:
        """A copy on the host, made when all that was launched on the GPU has ended.

        Raises:
            FaultError: if a kernel has faulted.
        """
        copy = np.empty(self.shape, self.dtype)
        if self.nbytes:
            self._call("cuCtxSynchronize")
            self._call("cuMemcpyDtoH", copy.ctypes.data, self.pointer, self.nbytes)
        return copy

    def close(self) -> None:
        """Free its memory now."""
        self._free()


def _free(device: Device, epoch: int, pointer: int) -> None:
    if epoch == device.epoch:
        with suppress(CudaError):  # after a fault it is gone already
            device.call("cuMemFree", pointer)
