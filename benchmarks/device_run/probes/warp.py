"""One instruction on a warp's registers."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from tilec.isa import Mma
from tilec.isa import target as find_target
from tilec.isa.kernel import ENTRY, kernel
from tilec.runtime import from_registers, to_registers

from ..driver import Cuda

Registers = np.ndarray
"""(registers, 32)."""


class Warp:
    """A form, ready to be executed by one warp.

    Args:
        cuda: the GPU.
        form: the form.
        target: of the PTX.
        selectors: values of the form's selectors.
    """

    def __init__(
        self, cuda: Cuda, form: Mma, target: str, selectors: Mapping[str, int] | None = None
    ) -> None:
        self.form = form
        self.selectors = dict(selectors or {})
        self._cuda = cuda
        made = kernel(form, find_target(target), selectors=self.selectors)
        self._function = cuda.function(cuda.load(made.ptx), ENTRY)
        self._buffers = made.buffers
        self._places = {buffer.name: cuda.alloc(buffer.bytes) for buffer in made.buffers}

    def execute(self, operands: Mapping[str, Registers]) -> Registers:
        """Registers of D."""
        for name, registers in operands.items():
            lanes_first = np.ascontiguousarray(np.swapaxes(registers, 0, 1))
            self._cuda.upload(self._places[name], lanes_first)
        pointers = [ctypes.c_uint64(place) for place in self._places.values()]
        self._cuda.launch(self._function, (1, 1, 1), (32, 1, 1), pointers)
        self._cuda.synchronize()
        (written,) = (buffer for buffer in self._buffers if buffer.written)
        found = np.empty(written.shape, f"u{written.bits // 8}")
        self._cuda.download(self._places[written.name], found)
        return np.ascontiguousarray(found.T)

    def multiply(self, matrices: Mapping[str, Any]) -> np.ndarray:
        """D as bits, (m, n), of matrices of numbers."""
        registers = {
            name: to_registers(self.form, name, matrix, self.selectors)
            for name, matrix in matrices.items()
        }
        d = from_registers(self.form, "d", self.execute(registers))
        return d.view(f"u{d.dtype.itemsize}")

    def close(self) -> None:
        """Give the memory back."""
        for place in self._places.values():
            self._cuda.free(place)
