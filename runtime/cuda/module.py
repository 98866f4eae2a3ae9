"""Modules: PTX or a binary on a GPU, with its kernels."""

from __future__ import annotations

from pathlib import Path

from tilec.isa import LaunchError

from .code import Code
from .device import Device, gpu
from .kernel import Kernel


class Module(Code):
    """A module on a GPU, loaded when first needed and, after a reset of the context, again.

    Attributes:
        device: the GPU.
        header: what the PTX says of itself; None for a binary.
        log: what the driver's assembler wrote about it, once loaded.
    """

    def __init__(self, code: str | bytes, device: Device) -> None:
        super().__init__(code, device)
        self._kernels: dict[str, Kernel] = {}

    def kernel(self, name: str | None = None) -> Kernel:
        """A kernel by its name; without one, the only kernel of the PTX.

        Raises:
            LaunchError: if there is none of that name, or there are several.
            LoadError: if the GPU cannot run the module.
        """
        names = list(self.header.entries) if self.header else []
        if name is None:
            if len(names) != 1:
                known = ", ".join(names) or "unknown, since it is a binary"
                raise LaunchError(f"which kernel should be launched? The module has: {known}")
            name = names[0]
        if name not in self._kernels:
            self._kernels[name] = Kernel(self, name)
        return self._kernels[name]


def load(code: str | bytes | Path, *, device: int = 0) -> Module:
    """A module for a GPU.

    Args:
        code: PTX text, a cubin or fat binary, or the path of a file of either.
        device: the GPU's number.

    Raises:
        UnavailableError: if there is no GPU.
        LoadError: if the text is not PTX, or for another GPU.
        OSError: if the file cannot be read.
    """
    if isinstance(code, Path):
        code = code.read_bytes()
    if isinstance(code, bytes) and b"\0" not in code:
        code = code.decode(errors="replace")
    return Module(code, gpu(device))
