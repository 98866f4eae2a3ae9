"""Fields of a tensor map that `tensormap.replace` writes, and what they take.

PTX ISA, "tensormap.replace"; what a map may hold, "Tensors" and CUDA driver, "Tensor maps".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tilec.isa.limits import (
    BOX_EXTENTS,
    ELEMENT_STRIDES,
    MAP_ALIGNMENT,
    MAP_EXTENTS,
    MAP_RANKS,
    MAP_STRIDES,
)
from tilec.layout.swizzle import SWIZZLES

from .map_bytes import (
    FILLS,
    INTERLEAVES,
    PTX_TYPES,
    TYPES,
    set_box,
    set_code,
    set_dim,
    set_step,
    set_stride,
)

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a map.

    Attributes:
        write: writes a value, given the map's bytes and the number of the dimension.
        legal: the values that it takes, with the multiple that they must be.
        dimensions: how many there are of it; 0 where it has no number.
        coded: whether its value is a code, which only a constant may be.
        hexadecimal: whether values are addresses.
    """

    write: Callable[[Bytes, int, int], None]
    legal: range
    dimensions: int = 0
    coded: bool = False
    hexadecimal: bool = False

    def problem(self, name: str, number: int, value: int) -> str | None:
        """What is wrong with a value; None if nothing is."""
        which = f".{name}" + (f" {number}" if self.dimensions else "")
        if value in self.legal:
            return None
        first, last, step = self.legal[0], self.legal[-1], self.legal.step
        words = f"{first} to {last}"
        if step > 1:
            words = f"multiples of {step}" + ("" if self.hexadecimal else f" up to {last}")
        shown = hex(value) if self.hexadecimal else str(value)
        return f"gives {which} of a tensor map {shown}; legal: {words}"


def _address(raw: Bytes, number: int, value: int) -> None:
    del number
    raw[0:8].view(np.uint64)[0] = value


def _type(raw: Bytes, number: int, value: int) -> None:
    del number
    set_code(raw, 7, 4, TYPES.index(PTX_TYPES[value]))


def _coded(first: int, bits: int) -> Callable[[Bytes, int, int], None]:
    return lambda raw, _, value: set_code(raw, first, bits, value)


_MOST = MAP_RANKS[-1]
FIELDS: dict[str, Field] = {
    "global_address": Field(_address, range(0, 1 << 64, MAP_ALIGNMENT), hexadecimal=True),
    "rank": Field(_coded(4, 3), range(_MOST)),
    "box_dim": Field(set_box, BOX_EXTENTS, _MOST),
    "global_dim": Field(set_dim, MAP_EXTENTS, _MOST),
    "global_stride": Field(set_stride, range(0, MAP_STRIDES, MAP_ALIGNMENT), _MOST - 1),
    "element_stride": Field(set_step, ELEMENT_STRIDES, _MOST),
    "elemtype": Field(_type, range(len(PTX_TYPES)), coded=True),
    "interleave_layout": Field(_coded(11, 2), range(len(INTERLEAVES)), coded=True),
    "swizzle_mode": Field(_coded(13, 2), range(len(SWIZZLES)), coded=True),
    "fill_mode": Field(_coded(15, 1), range(len(FILLS)), coded=True),
}
"""By the qualifier. The field `rank` holds one less than the rank."""
