"""Tensor maps as arguments of a launch. CUDA driver, "Tensor maps"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray
from tilec.isa.boxes import Im2col
from tilec.isa.wording import counted
from tilec.layout.swizzle import SWIZZLES

from .errors import LaunchError
from .map_bytes import FILLS, INTERLEAVES, TYPES, Descriptor

_NAMES = {"bool": "u8", "bfloat16": "bf16"} | {
    f"{kind}{bits}": f"{letter}{bits}"
    for kind, letter in (("uint", "u"), ("int", "s"), ("float", "f"))
    for bits in (16, 32, 64)
} | {"int16": "u16"}  # fmt: skip
"""Element types by numpy's names."""


class TensorMap:
    """Stands for a `CUtensorMap` argument of any kernel.

    The last dimension of the array, whose elements must follow each other, is dimension 0 of the
    map; the first is its last. `box` and `element_strides` are in the array's order.
    """

    def __init__(
        self,
        array: NDArray[Any],
        *,
        box: Sequence[int] | None = None,
        swizzle: str = "none",
        element_strides: Sequence[int] | None = None,
        interleave: str = "none",
        fill: str = "zeros",
        im2col: Im2col | None = None,
    ) -> None:
        """Describe an array to tensor copies.

        Args:
            array: of 1 to 5 dimensions; fp8 as uint8 or a type of ml_dtypes.
            box: elements of a copy along each dimension; none of an im2col map.
            swizzle: `none`, `32B`, `64B` or `128B`.
            element_strides: every how-manieth element is copied; 1 by default.
            interleave: `none`, `16B` or `32B`.
            fill: `zeros` or `nan`, for elements outside the array.
            im2col: the box of an im2col map.

        Raises:
            LaunchError: for what no map can describe, naming the dimension.
        """
        self.array = array
        for name, value, legal in (
            ("swizzle", swizzle, tuple(SWIZZLES)),
            ("interleave", interleave, INTERLEAVES),
            ("fill", fill, FILLS),
        ):
            if value not in legal:
                raise LaunchError(f"{name} of a tensor map is '{value}'; legal: {', '.join(legal)}")
        rank, name = array.ndim, array.dtype.name
        type_ = "u8" if array.itemsize == 1 else _NAMES.get(name)
        if type_ is None:
            raise LaunchError(f"a tensor map of {name}; legal: {', '.join(TYPES)}")
        if fill == "nan" and type_[0] not in "fb":
            raise LaunchError(f"fill 'nan' of a tensor map of {name}; legal: zeros")
        if (box is None) == (im2col is None):
            raise LaunchError("a tensor map takes either box or im2col")
        extents = tuple(box) if box is not None else (1,) * rank
        steps = tuple(element_strides) if element_strides is not None else (1,) * rank
        if len(extents) != rank or len(steps) != rank:
            raise LaunchError(
                f"the array has {counted(rank, 'dimension')}, box {len(extents)}, element_strides "
                f"{len(steps)}"
            )
        if rank and array.shape[-1] > 1 and array.strides[-1] != array.itemsize:
            raise LaunchError("elements of the last dimension are not contiguous")
        self.descriptor = Descriptor(
            0,
            type_,
            tuple(array.shape[::-1]),
            tuple(array.strides[-2::-1]) if rank > 1 else (),
            tuple(int(n) for n in extents[::-1]),
            tuple(int(n) for n in steps[::-1]),
            swizzle,
            interleave,
            fill,
            im2col,
        )
        problem = self.descriptor.problem()
        if problem is not None:
            raise LaunchError(f"tensor map: {problem}")

    def __repr__(self) -> str:
        """One line, for a prompt."""
        known = self.descriptor
        shape = "x".join(map(str, self.array.shape))
        box = "x".join(map(str, known.box[::-1]))
        boxes = f"boxes of {box}" if known.im2col is None else "im2col"
        return f"<tensor map of {shape} {self.array.dtype}, {boxes}, swizzle {known.swizzle}>"
