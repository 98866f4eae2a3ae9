"""What the 128 bytes of a tensor map say. PTX ISA, "Tensors"; CUDA driver, "Tensor maps".

A map is 128 bytes. Those that `tensormap.replace` can write lie where the hardware has them; what
it cannot, the boxes of im2col, lies in bytes of our own choice, which no program looks at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tilec.isa.boxes import Im2col
from tilec.isa.limits import (
    BOX_EXTENTS,
    ELEMENT_STRIDES,
    IM2COL_PIXELS,
    IM2COL_RANKS,
    MAP_ALIGNMENT,
    MAP_BYTES,
    MAP_EXTENTS,
    MAP_RANKS,
    MAP_STRIDES,
)
from tilec.isa.wording import counted
from tilec.layout.swizzle import SWIZZLES

_CODES = tuple(SWIZZLES)
"""Swizzles in the order of the driver's codes, which is that of their widths."""
INTERLEAVES = ("none", "16B", "32B")
FILLS = ("zeros", "nan")
TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64", "bf16", "f32.ftz", "tf32",
    "tf32.ftz",
)  # fmt: skip
"""Element types in the order of the driver's codes."""
PTX_TYPES = (
    "u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f32.ftz", "f64", "bf16", "tf32",
    "tf32.ftz",
)  # fmt: skip
"""The same in the order of `tensormap.replace`."""
_SIZES = {"u8": 1, "u16": 2, "f16": 2, "bf16": 2, "u64": 8, "s64": 8, "f64": 8}
_NANS = {2: 0x7FFF, 4: 0x7FFFFFFF, 8: 0x7FFFFFFFFFFFFFFF}
"""What is filled in for elements outside; which NaN the hardware takes is not documented."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What a map's 128 bytes say; dimension 0, whose elements follow each other, comes first.

    Attributes:
        address: generic address of the array.
        type: element type, of `TYPES`.
        dims: elements along each dimension.
        strides: bytes from one element to the next along dimensions 1 and up.
        box: elements along each dimension that a copy spans.
        steps: of these, every how-manieth is copied.
        swizzle, interleave, fill: as `layout.SWIZZLES`, `INTERLEAVES`, `FILLS`.
        im2col: the box of an im2col map, or None.
    """

    address: int
    type: str
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: str = "none"
    interleave: str = "none"
    fill: str = "zeros"
    im2col: Im2col | None = None

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return _SIZES.get(self.type, 4)

    @property
    def fill_bits(self) -> int:
        """The bits of elements that lie outside the array."""
        return _NANS[self.size] if self.fill == "nan" else 0

    def problem(self) -> str | None:
        """What is wrong with it, as `cuTensorMapEncodeTiled` would say; None if nothing is."""
        rank, sliced = len(self.dims), self.interleave != "none"
        unit = 2 * MAP_ALIGNMENT if self.interleave == "32B" else MAP_ALIGNMENT
        if rank not in MAP_RANKS or (sliced and rank < 3):
            return f"rank {rank}; legal: {'3 to 5 when interleaved' if sliced else '1 to 5'}"
        if self.address % unit:
            return f"the array begins at {self.address:#x}, which is not a multiple of {unit}"
        for number, dim in enumerate(self.dims):
            if dim not in MAP_EXTENTS:
                return f"dimension {number} has {counted(dim, 'element')}; legal: 1 to 2^32"
        for number, stride in enumerate(self.strides, 1):
            if stride % unit or not 0 <= stride < MAP_STRIDES:
                return (
                    f"dimension {number} has a stride of {counted(stride, 'byte')}; "
                    f"legal: multiples of {unit} below 2^40"
                )
        for number, step in enumerate(self.steps):
            if step not in ELEMENT_STRIDES:
                return (
                    f"dimension {number} has an element stride of {step}; "
                    f"legal: 1 to {ELEMENT_STRIDES[-1]}"
                )
        if self.interleave == "32B" and self.swizzle != "32B":
            return f"interleave 32B with swizzle {self.swizzle}; legal: 32B"
        return self._box_problem()

    def _box_problem(self) -> str | None:
        width = SWIZZLES[self.swizzle].line
        if self.im2col is not None:
            row = self.im2col.channels * self.size
            if self.im2col.channels not in BOX_EXTENTS or self.im2col.pixels not in IM2COL_PIXELS:
                return (
                    f"an im2col box takes 1 to {BOX_EXTENTS[-1]} channels and 1 to "
                    f"{IM2COL_PIXELS[-1]} pixels"
                )
            if len(self.dims) not in IM2COL_RANKS:
                return f"an im2col map of rank {len(self.dims)}; legal: 3 to 5"
            if {len(self.im2col.lower), len(self.im2col.upper)} != {len(self.dims) - 2}:
                each = counted(len(self.dims) - 2, "number")
                return f"the corners of an im2col box take {each} each"
        else:
            row = self.box[0] * self.size
            for number, extent in enumerate(self.box):
                if extent not in BOX_EXTENTS:
                    has = counted(extent, "element")
                    return f"dimension {number} of the box has {has}; legal: 1 to 256"
        if row % MAP_ALIGNMENT:
            return (
                f"rows of the box have {counted(row, 'byte')}; legal: multiples of {MAP_ALIGNMENT}"
            )
        if self.swizzle != "none" and row > width:
            return (
                f"rows of the box have {counted(row, 'byte')}; swizzle {self.swizzle} takes {width}"
            )
        return None

    # As bytes

    def encode(self) -> bytes:
        """The 128 bytes."""
        raw = np.zeros(MAP_BYTES, np.uint8)
        rank = len(self.dims)
        word = (
            (rank - 1) << 4
            | TYPES.index(self.type) << 7
            | INTERLEAVES.index(self.interleave) << 11
            | _CODES.index(self.swizzle) << 13
            | FILLS.index(self.fill) << 15
        )
        raw[0:8].view(np.uint64)[0] = self.address
        raw[8:12].view(np.uint32)[0] = word
        for number, stride in enumerate(self.strides):
            set_stride(raw, number, stride)
        for number in range(rank):
            set_dim(raw, number, self.dims[number])
            set_step(raw, number, self.steps[number])
            set_box(raw, number, self.box[number])
        if self.im2col is not None:
            count = len(self.im2col.lower)
            raw[0x40] = 1
            raw[0x42:0x48].view(np.int16)[:count] = self.im2col.lower
            raw[0x48:0x4E].view(np.int16)[:count] = self.im2col.upper
            raw[0x4E:0x50].view(np.uint16)[0] = self.im2col.channels
            raw[0x50:0x52].view(np.uint16)[0] = self.im2col.pixels
        return raw.tobytes()

    @classmethod
    def decode(cls, data: bytes) -> Descriptor:
        """What 128 bytes say.

        Raises:
            ValueError: for codes that mean nothing.
        """
        raw = np.frombuffer(data, np.uint8)
        word = int(raw[8:12].view(np.uint32)[0])
        rank = (word >> 4 & 7) + 1
        codes = (word >> 7 & 15, word >> 11 & 3)
        if rank > 5 or codes[0] >= len(TYPES) or codes[1] >= len(INTERLEAVES):
            raise ValueError("not a tensor map")
        high = int(raw[0x1C:0x20].view(np.uint32)[0])
        steps = int(raw[0x34:0x38].view(np.uint32)[0])
        low = raw[0x0C:0x1C].view(np.uint32).tolist()
        dims = raw[0x20:0x34].view(np.uint32).tolist()
        im2col = None
        if raw[0x40]:
            im2col = Im2col(
                tuple(raw[0x42:0x48].view(np.int16)[: rank - 2].tolist()),
                tuple(raw[0x48:0x4E].view(np.int16)[: rank - 2].tolist()),
                int(raw[0x4E:0x50].view(np.uint16)[0]),
                int(raw[0x50:0x52].view(np.uint16)[0]),
            )
        return cls(
            int(raw[0:8].view(np.uint64)[0]),
            TYPES[codes[0]],
            tuple(n + 1 for n in dims[:rank]),
            tuple((low[i] | (high >> 4 * i & 15) << 32) << 4 for i in range(rank - 1)),
            tuple(int(n) + 1 for n in raw[0x37 : 0x37 + rank]),
            tuple((steps >> 3 * i & 7) + 1 for i in range(rank)),
            _CODES[word >> 13 & 3],
            INTERLEAVES[codes[1]],
            FILLS[word >> 15 & 1],
            im2col,
        )


def set_dim(raw: NDArray[np.uint8], number: int, dim: int) -> None:
    """Write the elements along a dimension into a map's bytes."""
    raw[0x20 + 4 * number : 0x24 + 4 * number].view(np.uint32)[0] = (dim - 1) & 0xFFFFFFFF


def set_stride(raw: NDArray[np.uint8], number: int, stride: int) -> None:
    """Write the bytes between elements of dimension `number` + 1."""
    units = stride >> 4
    raw[0x0C + 4 * number : 0x10 + 4 * number].view(np.uint32)[0] = units & 0xFFFFFFFF
    _set_bits(raw, 0x1C, 4 * number, 4, units >> 32)


def set_step(raw: NDArray[np.uint8], number: int, step: int) -> None:
    """Write an element stride."""
    _set_bits(raw, 0x34, 3 * number, 3, step - 1)


def set_box(raw: NDArray[np.uint8], number: int, extent: int) -> None:
    """Write the elements of the box along a dimension."""
    raw[0x37 + number] = (extent - 1) & 0xFF


def set_code(raw: NDArray[np.uint8], first: int, bits: int, code: int) -> None:
    """Write a code into the word at byte 8."""
    _set_bits(raw, 8, first, bits, code)


def _set_bits(raw: NDArray[np.uint8], at: int, first: int, bits: int, value: int) -> None:
    word = raw[at : at + 4].view(np.uint32)
    mask = ((1 << bits) - 1) << first
    word[0] = int(word[0]) & ~mask | (value << first & mask)
