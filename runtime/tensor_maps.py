"""What a tensor map is made of: an array and the box that copies of it move.

The driver makes the map of a GPU, `tilec.sim.TensorMap` that of the simulator. PTX ISA 5.5; CUDA
driver API, `cuTensorMapEncodeTiled`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilec.isa.boxes import Im2col
from tilec.isa.errors import NoMapError
from tilec.isa.limits import MAP_ALIGNMENT, MAP_EXTENTS, MAP_STRIDES
from tilec.isa.wording import counted


@dataclass(frozen=True, slots=True)
class BoxedArray:
    """An array whose tensor map a kernel takes.

    Attributes:
        array: of the host, or a `View` of one on a GPU.
        type: of its elements, as MLIR writes it.
        bytes: of an element.
        shape: elements along each dimension.
        strides: bytes from one element to the next along each.
        box: what a copy spans along each; empty of an im2col map.
        swizzle: `none`, `32B`, `64B` or `128B`.
        element_strides: along each, every how-manieth element is copied; empty if each is.
        im2col: the box of a copy that walks pixels.
    """

    array: Any
    type: str
    bytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    swizzle: str
    element_strides: tuple[int, ...] = ()
    im2col: Im2col | None = None

    def check(self, name: str, address: int) -> None:
        """Check what every map demands.

        Args:
            name: of the array, for the error.
            address: of its first element.

        Raises:
            NoMapError: naming the dimension.
        """
        if address % MAP_ALIGNMENT:
            raise NoMapError(
                f"{name} is at {address:#x}; the kernel copies boxes of it, which takes a multiple "
                f"of {MAP_ALIGNMENT} bytes"
            )
        last = len(self.shape) - 1
        for dimension, (extent, stride) in enumerate(zip(self.shape, self.strides, strict=True)):
            where = f"{name} has {counted(extent, 'element')} along dimension {dimension}"
            if extent not in MAP_EXTENTS:
                raise NoMapError(
                    f"{where}; the kernel copies boxes of it, of 1 to {MAP_EXTENTS[-1]}"
                )
            if dimension == last:
                if extent > 1 and stride != self.bytes:
                    raise NoMapError(
                        f"{name} has elements {counted(stride, 'byte')} apart along dimension "
                        f"{dimension}; "
                        f"the kernel copies boxes of it, whose elements follow each other"
                    )
            elif extent > 1 and (stride % MAP_ALIGNMENT or not 0 < stride < MAP_STRIDES):
                raise NoMapError(
                    f"{name} has a stride of {counted(stride, 'byte')} along dimension "
                    f"{dimension}; the "
                    f"kernel copies boxes of it, which takes a multiple of {MAP_ALIGNMENT}"
                )
