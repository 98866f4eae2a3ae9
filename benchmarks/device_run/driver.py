"""CUDA's driver by ctypes: as much of it as runs and times kernels.

One device, its primary context (which PyTorch uses, too) and the default stream. Every call is
checked; the driver's own words go into the error.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from .tensor_maps import encoded_arguments

Value = Any
"""An argument of a kernel: a ctypes scalar."""

_LOG_BYTES = 1 << 14
# CUjit_option, CUdevice_attribute and CUfunction_attribute of cuda.h
_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES = 5, 6
_ATTRIBUTES = {
    "multiprocessors": 16,
    "clock_khz": 13,
    "l2_bytes": 38,
    "major": 75,
    "minor": 76,
    "shared_per_cta": 97,
}
_REGISTERS, _LOCAL_BYTES, _DYNAMIC_SHARED = 4, 3, 8


class DeviceError(RuntimeError):
    """What the driver refuses, with the call and its reason."""


@dataclass(frozen=True)
class Function:
    """A kernel that is ready to launch.

    Attributes:
        handle: the driver's.
        name: of the kernel.
        registers: of a thread.
        local_bytes: of a thread: spills and arrays.
        shared: bytes of dynamic shared memory that every launch asks for.
    """

    handle: ctypes.c_void_p
    name: str
    registers: int
    local_bytes: int
    shared: int


class Cuda:
    """The first GPU.

    Args:
        library: the driver, as ctypes loads it; looked for by its usual name if None.

    Raises:
        DeviceError: without a driver or a GPU.
    """

    def __init__(self, library: Any = None) -> None:
        self._library = library or _find()
        self._call("cuInit", 0)
        device, context, version = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self._call("cuCtxSetCurrent", context)
        self._call("cuDriverGetVersion", ctypes.byref(version))
        self.driver = f"{version.value // 1000}.{version.value % 1000 // 10}"
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, 256, device)
        self.name = name.value.decode()
        self.limits = {}
        for what, number in _ATTRIBUTES.items():
            value = ctypes.c_int()
            self._call("cuDeviceGetAttribute", ctypes.byref(value), number, device)
            self.limits[what] = value.value

    @property
    def architecture(self) -> str:
        """As `sm_90`."""
        return f"sm_{self.limits['major']}{self.limits['minor']}"

    def _call(self, name: str, *arguments: Any) -> None:
        status = getattr(self._library, name)(*arguments)
        if status:
            text = ctypes.c_char_p()
            self._library.cuGetErrorName(status, ctypes.byref(text))
            reason = text.value.decode() if text.value else f"error {status}"
            raise DeviceError(f"{name}: {reason}")

    # Memory

    def alloc(self, count: int) -> int:
        """The address of so many new bytes."""
        pointer = ctypes.c_uint64()
        self._call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(max(count, 1)))
        return pointer.value

    def free(self, pointer: int) -> None:
        """Give back what `alloc` gave."""
        self._call("cuMemFree_v2", ctypes.c_uint64(pointer))

    def upload(self, pointer: int, array: np.ndarray) -> None:
        """An array, which is contiguous, to the GPU."""
        at, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        self._call("cuMemcpyHtoD_v2", ctypes.c_uint64(pointer), at, size)

    def download(self, pointer: int, array: np.ndarray) -> None:
        """From the GPU into an array."""
        at, size = ctypes.c_void_p(array.ctypes.data), ctypes.c_size_t(array.nbytes)
        self._call("cuMemcpyDtoH_v2", at, ctypes.c_uint64(pointer), size)

    def fill(self, pointer: int, byte: int, count: int) -> None:
        """So many bytes of one value."""
        size = ctypes.c_size_t(count)
        self._call("cuMemsetD8_v2", ctypes.c_uint64(pointer), ctypes.c_ubyte(byte), size)

    def copy(self, target: int, source: int, count: int) -> None:
        """So many bytes from one place on the GPU to another."""
        places = ctypes.c_uint64(target), ctypes.c_uint64(source)
        self._call("cuMemcpyDtoD_v2", *places, ctypes.c_size_t(count))

    # Kernels

    def load_any(self, cubin: bytes | None, ptx: str) -> ctypes.c_void_p:
        """A module as it was assembled, if this driver takes that; else of its PTX."""
        if cubin is not None:
            with suppress(DeviceError):
                return self.load(cubin)
        return self.load(ptx)

    def load(self, code: str | bytes) -> ctypes.c_void_p:
        """A module of PTX, which the driver compiles, or of an assembled cubin.

        Raises:
            DeviceError: with the compiler's log.
        """
        module = ctypes.c_void_p()
        log = ctypes.create_string_buffer(_LOG_BYTES)
        names = (ctypes.c_int * 2)(_JIT_ERROR_LOG, _JIT_ERROR_LOG_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), _LOG_BYTES)
        text = ctypes.c_char_p(code.encode() if isinstance(code, str) else code)
        try:
            self._call("cuModuleLoadDataEx", ctypes.byref(module), text, 2, names, values)
        except DeviceError as error:
            raise DeviceError(f"{error}\n{log.value.decode(errors='replace')}") from None
        return module

    def unload(self, module: ctypes.c_void_p) -> None:
        """Give a module back."""
        self._call("cuModuleUnload", module)

    def function(self, module: ctypes.c_void_p, name: str, shared: int = 0) -> Function:
        """A kernel of a module.

        Args:
            module: what `load` gave.
            name: of the kernel.
            shared: bytes of dynamic shared memory of its launches.
        """
        handle = ctypes.c_void_p()
        self._call("cuModuleGetFunction", ctypes.byref(handle), module, name.encode())
        if shared:
            self._call("cuFuncSetAttribute", handle, _DYNAMIC_SHARED, shared)
        found = []
        for what in (_REGISTERS, _LOCAL_BYTES):
            value = ctypes.c_int()
            self._call("cuFuncGetAttribute", ctypes.byref(value), what, handle)
            found.append(value.value)
        return Function(handle, name, found[0], found[1], shared)

    def launch(
        self,
        function: Function,
        grid: Sequence[int],
        block: Sequence[int],
        values: Sequence[Value],
    ) -> None:
        """Launch; it returns before the kernel has run.

        Args:
            function: the kernel.
            grid: CTAs in x, y, z.
            block: threads of a CTA in x, y, z.
            values: an argument for each parameter.
        """
        places = (ctypes.c_void_p * len(values))(*(ctypes.addressof(v) for v in values))
        extents = (*grid, *block)
        self._call("cuLaunchKernel", function.handle, *extents, function.shared, None, places, None)

    def tensor_map(self, described: Mapping[str, Any], address: int) -> Any:
        """A tensor map, 128 bytes passed by value; `tensor_maps` says how it is described."""
        map_, function, arguments = encoded_arguments(described, address)
        self._call(function, *arguments)
        return map_

    def synchronize(self) -> None:
        """Wait until all launched kernels have run."""
        self._call("cuCtxSynchronize")

    # Time

    def event(self) -> ctypes.c_void_p:
        """A new event."""
        event = ctypes.c_void_p()
        self._call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def record(self, event: ctypes.c_void_p) -> None:
        """Let an event happen when what was launched before has run."""
        self._call("cuEventRecord", event, None)

    def milliseconds(self, start: ctypes.c_void_p, end: ctypes.c_void_p) -> float:
        """Between two events, when the second has happened."""
        self._call("cuEventSynchronize", end)
        found = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(found), start, end)
        return found.value


def _find() -> Any:
    for name in ("libcuda.so.1", "libcuda.so", "nvcuda.dll"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise DeviceError("no CUDA driver: libcuda.so.1 is not on this machine")
