"""PTX or a binary, loaded onto a GPU."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from weakref import finalize

from tilec.isa import TARGETS, LaunchError, Scope, nearest

from .device import Device
from .driver import bindings
from .errors import CudaError, DriverError, LoadError
from .header import Header, header

_LOG_BYTES = 1 << 16
_REACH = {
    Scope.PLAIN: "runs on it and later architectures",
    Scope.FAMILY: "runs on it and later members of its family",
    Scope.ARCHITECTURE: "runs on exactly that architecture",
}


class Code:
    """PTX or a binary on a GPU, loaded when first needed and, after a reset of the context, again.

    Attributes:
        device: the GPU.
        header: what the PTX says of itself; None for a binary.
        log: what the driver's assembler wrote about it, once loaded.
    """

    def __init__(self, code: str | bytes, device: Device) -> None:
        self.device = device
        self.header = header(code) if isinstance(code, str) else None
        self.log = ""
        self._code = code.encode() + b"\0" if isinstance(code, str) else code
        self._epoch = -1
        self._handle: Any = None
        self._functions: dict[str, Any] = {}
        if self.header is not None:
            _check_target(self.header, device)
        elif isinstance(code, str):
            raise LoadError("the text is not PTX: it does not name a .version and a .target")

    def function(self, name: str) -> Any:
        """The driver's handle of a kernel in the present context.

        Raises:
            LaunchError: if there is no such kernel.
            LoadError: if the GPU cannot run the module.
        """
        self.device.activate()
        if self._epoch != self.device.epoch:
            self._load()
        if name not in self._functions:
            try:
                found = self.device.call("cuModuleGetFunction", self._handle, name.encode())
            except DriverError:
                names = nearest(name, self.header.entries) if self.header else ()
                hint = f"; it has {', '.join(names)}" if names else ""
                raise LaunchError(f"the module has no kernel '{name}'{hint}") from None
            self._functions[name] = found
        return self._functions[name]

    def _load(self) -> None:
        option = bindings().CUjit_option
        info, errors = bytearray(_LOG_BYTES), bytearray(_LOG_BYTES)
        options = {
            option.CU_JIT_INFO_LOG_BUFFER: info,
            option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: _LOG_BYTES,
            option.CU_JIT_ERROR_LOG_BUFFER: errors,
            option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: _LOG_BYTES,
        }
        names, values = list(options), list(options.values())
        try:
            loaded = self.device.call("cuModuleLoadDataEx", self._code, len(names), names, values)
        except DriverError as error:
            self.log = _text(errors)
            raise LoadError(self._refusal(error.code), self.log) from None
        self.log = _text(info)
        self._handle, self._epoch = loaded, self.device.epoch
        self._functions.clear()
        finalize(self, _unload, self.device, self._epoch, loaded).atexit = False

    def _refusal(self, code: str) -> str:
        """What is wrong, and what to do, by the driver's error."""
        device = self.device
        match code:
            case "CUDA_ERROR_UNSUPPORTED_PTX_VERSION":
                version = f"PTX {self.header.version}" if self.header else "of a PTX version"
                return (
                    f"the module is {version}, newer than the driver of {device} reads, which is "
                    f"of CUDA {device.driver_version}; update the driver, or load a cubin"
                )
            case "CUDA_ERROR_NO_BINARY_FOR_GPU":
                return f"the module has no code for {device}; compile it for {device.target}"
            case "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" | "CUDA_ERROR_JIT_COMPILATION_DISABLED":
                return f"the driver of {device} has no assembler for PTX ({code}); load a cubin"
            case "CUDA_ERROR_INVALID_PTX":
                return f"the driver's assembler refuses the module for {device}, {device.target}:"
            case "CUDA_ERROR_INVALID_IMAGE" | "CUDA_ERROR_INVALID_SOURCE":
                return f"the module is neither PTX nor a binary that the driver reads ({code})"
        return f"the driver does not load the module on {device}: {code}"


def _text(log: bytearray) -> str:
    return bytes(log).partition(b"\0")[0].decode(errors="replace").strip()


def _unload(device: Device, epoch: int, handle: Any) -> None:
    if epoch == device.epoch:
        with suppress(CudaError):  # after a fault it is gone already
            device.call("cuModuleUnload", handle)


def _check_target(known: Header, device: Device) -> None:
    target = TARGETS.get(known.target)
    if target is not None and not target.runs_on(device.target):
        raise LoadError(
            f"the module is for {target}, which {_REACH[target.scope]}; {device} "
            f"is {device.target}; compile for that"
        )
