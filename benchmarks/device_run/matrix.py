"""Random arrays on the GPU, of which every element is also known here."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from tilec.runtime import unpack

from .driver import Cuda
from .pools import piece
from .pools import pool as pool_of

TYPES = {
    "f16": "f16",
    "bf16": "bf16",
    "f32": "f32",
    "i8": "s8",
    "i32": "s32",
    "f8E4M3FN": "e4m3",
    "f8E5M2": "e5m2",
}
"""MLIR's element types under the names of `tilec.isa`."""

BYTES = {"f16": 2, "bf16": 2, "f32": 4, "i8": 1, "i32": 4, "f8E4M3FN": 1, "f8E5M2": 1}


class Matrix:
    """A row-major array in the GPU's memory; what is outside its last axis counts as rows.

    Args:
        cuda: the GPU.
        shape: extents.
        element: MLIR's element type.
        seed: of the random elements; None for memory that is to be written.
        pool: that they come from; by default normal numbers, or any integers.
        content: its bytes, repeated as often as they fit, in place of random ones.
    """

    def __init__(
        self,
        cuda: Cuda,
        shape: Sequence[int],
        element: str,
        seed: int | None = None,
        pool: str = "",
        content: np.ndarray | None = None,
    ) -> None:
        self._cuda = cuda
        self.shape = tuple(shape)
        self.element = element
        self.nbytes = prod(self.shape) * BYTES[element]
        self.pointer = cuda.alloc(self.nbytes)
        if content is not None:
            self._period = self._spread(np.ascontiguousarray(content).reshape(-1).view(np.uint8))
        elif seed is None:
            self.clear()
        else:
            name = pool or ("bits" if element[0] == "i" else f"normal:{TYPES[element]}")
            size = len(pool_of(name)) // BYTES[element] * BYTES[element]
            self._period = self._spread(piece(name, seed, size))

    def clear(self, byte: int = 0xFF) -> None:
        """Let every byte have a value."""
        self._cuda.fill(self.pointer, byte, self.nbytes)

    def _spread(self, period: np.ndarray) -> np.ndarray:
        """Put one period of the elements at the beginning, then double on the GPU what is there."""
        done = min(len(period), self.nbytes)
        self._cuda.upload(self.pointer, period[:done])
        while done < self.nbytes:
            more = min(done, self.nbytes - done)
            self._cuda.copy(self.pointer + done, self.pointer, more)
            done += more
        return period

    def numbers(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """The elements where some rows and columns meet, as float64, without asking the GPU."""
        return unpack(self.stored(rows, cols), TYPES[self.element])[..., 0].astype(np.float64)

    def stored(self, rows: np.ndarray, cols: np.ndarray) -> np.ndarray:
        """The same as bytes, (rows, columns, bytes of an element)."""
        width = BYTES[self.element]
        at = rows[:, None].astype(np.int64) * self.shape[-1] + cols
        return self._period.reshape(-1, width)[at % (len(self._period) // width)]

    def read(self, rows: np.ndarray) -> np.ndarray:
        """Some rows, as float64, from the GPU."""
        width = self.shape[-1] * BYTES[self.element]
        held = np.empty((len(rows), width), np.uint8)
        for number, row in enumerate(rows.tolist()):
            self._cuda.download(self.pointer + row * width, held[number])
        return unpack(held, TYPES[self.element]).astype(np.float64)

    def free(self) -> None:
        """Give the memory back."""
        self._cuda.free(self.pointer)
