"""One instruction on a warp's registers, or a warpgroup's and matrices in shared memory."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np
from tilec.isa import Product
from tilec.isa import target as find_target
from tilec.isa.kernel import ENTRY, kernel
from tilec.runtime import from_registers, pack, to_registers

from ..driver import Cuda

Registers = np.ndarray
"""(registers, threads); of a matrix in shared memory its lines, (lines, bytes)."""


class Warp:
    """A form, ready to be executed by one warp or warpgroup.

    Args:
        cuda: the GPU.
        form: the form.
        target: of the PTX.
        selectors: values of the form's selectors.
    """

    def __init__(
        self, cuda: Cuda, form: Product, target: str, selectors: Mapping[str, int] | None = None
    ) -> None:
        self.form = form
        self.selectors = dict(selectors or {})
        self._cuda = cuda
        made = kernel(form, find_target(target), selectors=self.selectors)
        self._function = cuda.function(cuda.load(made.ptx), ENTRY)
        self._buffers, self._threads = made.buffers, made.threads
        self._places = {buffer.name: cuda.alloc(buffer.bytes) for buffer in made.buffers}

    def execute(self, operands: Mapping[str, Registers]) -> Registers:
        """Registers of D."""
        for name, registers in operands.items():
            of_threads = self.form.operand(name).threads
            as_read = np.swapaxes(registers, 0, 1) if of_threads else registers
            self._cuda.upload(self._places[name], np.ascontiguousarray(as_read))
        pointers = [ctypes.c_uint64(place) for place in self._places.values()]
        self._cuda.launch(self._function, (1, 1, 1), (self._threads, 1, 1), pointers)
        self._cuda.synchronize()
        (written,) = (buffer for buffer in self._buffers if buffer.written)
        found = np.empty(written.shape, f"u{written.bits // 8}")
        self._cuda.download(self._places[written.name], found)
        return np.ascontiguousarray(found.T)

    def multiply(self, matrices: Mapping[str, Any]) -> np.ndarray:
        """D as bits, (m, n), of matrices of numbers."""
        registers = {name: self.given(name, matrix) for name, matrix in matrices.items()}
        d = from_registers(self.form, "d", self.execute(registers))
        return d.view(f"u{d.dtype.itemsize}")

    def given(self, name: str, matrix: Any) -> Registers:
        """An operand as `execute` takes it: in shared memory lines go along K."""
        operand = self.form.operand(name)
        if operand.threads:
            return to_registers(self.form, name, matrix, self.selectors)
        return pack(np.asarray(matrix).T if name == "b" else matrix, operand.type)

    def close(self) -> None:
        """Give the memory back."""
        for place in self._places.values():
            self._cuda.free(place)
