"""A launch with everything settled."""

from __future__ import annotations

import ctypes
from typing import Any

from tilec.isa import LaunchError
from tilec.isa.wording import counted

from .errors import DriverError
from .function import Function


class Launch:
    """A launch with everything settled; call it to make it, without waiting for its end."""

    def __init__(
        self, kernel: Function, config: Any, packed: bytes, offsets: list[int], kept: list[object]
    ) -> None:
        self.kernel = kernel
        self._config = config
        self._kept = kept
        self._epoch = kernel.device.epoch
        self._function = kernel.module.function(kernel.name)
        self._packed = ctypes.create_string_buffer(packed, max(len(packed), 1))
        start = ctypes.addressof(self._packed)
        self._places = (ctypes.c_void_p * max(len(offsets), 1))(*(start + at for at in offsets))
        self._address = ctypes.addressof(self._places)

    @property
    def is_lost(self) -> bool:
        """Whether its context is no longer there."""
        device = self.kernel.device
        return device.faulted or device.epoch != self._epoch

    @property
    def stream(self) -> int:
        """The handle of the stream that it goes to."""
        return int(self._config.hStream)

    def without_arrays(self) -> Launch:
        """The same, which does not keep the arrays that it was bound with."""
        made = object.__new__(Launch)
        made.__dict__ = {**self.__dict__, "_kept": []}
        return made

    def wait(self) -> None:
        """Wait for the end of all that was launched on its stream.

        Raises:
            FaultError: if a kernel has faulted.
        """
        self.kernel.device.call("cuStreamSynchronize", self.stream)

    def __call__(self) -> None:
        """Launch the kernel.

        Raises:
            LaunchError: if the driver refuses it, or its context has been reset since.
            FaultError: if a kernel launched before has faulted.
        """
        device, config = self.kernel.device, self._config
        device.activate()
        for kept in device.recorders:
            kept.append(self)
        if device.epoch != self._epoch:
            raise LaunchError(
                f"kernel '{self.kernel.name}' was bound before the context of {device} was reset; "
                "bind it again"
            )
        try:
            device.call(
                "cuLaunchKernelEx",
                config,
                self._function,
                self._address,
                0,
                kernel=self.kernel.name,
            )
        except DriverError as error:
            grid = config.gridDimX, config.gridDimY, config.gridDimZ
            block = config.blockDimX, config.blockDimY, config.blockDimZ
            raise LaunchError(
                f"{device} refuses kernel '{self.kernel.name}' ({error.code}) with grid {grid}, "
                f"block {block} and {counted(config.sharedMemBytes, 'byte')} of dynamic shared "
                "memory; it "
                f"has {counted(self.kernel.registers, 'register')} per thread"
            ) from None
