"""A GPU as an executor of trials."""

from __future__ import annotations

import ctypes

import numpy as np

from .driver import Cuda


class GpuModule:
    """Kernels of a module on a GPU; memory goes there and back.

    Args:
        cuda: the GPU.
        ptx: the module.
        cubin: what it is assembled to, if that is known.
    """

    def __init__(self, cuda: Cuda, ptx: str, cubin: bytes | None = None) -> None:
        self._cuda = cuda
        self._module = cuda.load_any(cubin, ptx)

    def __call__(self, kernel: str, ctas: int, arguments: list[np.ndarray]) -> None:
        cuda = self._cuda
        function = cuda.function(self._module, kernel)
        places: list[int] = []
        try:
            for array in arguments:
                places.append(cuda.alloc(array.nbytes))
                cuda.upload(places[-1], array)
            pointers = [ctypes.c_uint64(place) for place in places]
            cuda.launch(function, (ctas, 1, 1), (32, 1, 1), pointers)
            cuda.synchronize()
            for array, place in zip(arguments, places, strict=True):
                cuda.download(place, array)
        finally:
            for place in places:
                cuda.free(place)

    def unload(self) -> None:
        """Give the module back."""
        self._cuda.unload(self._module)
