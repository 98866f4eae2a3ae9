"""Elements between numpy and memory.

Elements are put next to each other along the innermost dimension, low bits first, in a container:
without gaps, a byte each, or as `ldmatrix` unpacks them.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tilec.isa import ElementType, TilecError, UnknownNameError, element_type
from tilec.isa.wording import counted

from .elements import Bits, from_bits, to_bits

Memory = NDArray[np.uint8]
"""(…, bytes)."""


@dataclass(frozen=True, slots=True)
class Container:
    """How elements lie in memory.

    Attributes:
        bits: that an element takes; None for those of its type.
        run: elements after which padding follows, 0 for none.
        padding: bytes of it.
        middle: whether a 4-bit element stands in the middle of its byte, not at its end.
    """

    bits: int | None = None
    run: int = 0
    padding: int = 0
    middle: bool = False

    def takes(self, type_: ElementType) -> bool:
        """Whether elements of a type go into it."""
        if self.bits is None:
            return True
        return type_.bits <= 8 if self.bits == 8 else type_.bits == self.bits

    def width(self, type_: ElementType) -> int:
        """Bits that an element takes."""
        return type_.bits if self.bits is None else self.bits

    def shift(self, type_: ElementType) -> int:
        """Bits below the element."""
        return 2 if self.middle and type_.bits == 4 else 0


CONTAINERS = MappingProxyType(
    {
        "packed": Container(),
        "b8": Container(bits=8),
        "f8f6f4": Container(bits=8, middle=True),
        "b6x16_p32": Container(bits=6, run=16, padding=4),
        "b4x16_p64": Container(bits=4, run=16, padding=8),
    }
)
"""By name: no gaps; a byte each; a byte each as `kind::f8f6f4` and `kind::mxf8f6f4` have them in
registers; and the two formats that `ldmatrix` unpacks."""


def pack(values: ArrayLike, type_: ElementType | str, container: str = "packed") -> Memory:
    """Numbers as bytes in memory.

    Args:
        values: (…, n).
        type_: the element type or its name; `tilec.runtime.to_bits` says how numbers become it.
        container: one of `CONTAINERS`.

    Returns:
        (…, bytes).

    Raises:
        TilecError: for a number that the type cannot hold, a container that does not take the
            type, or rows that do not fill bytes (runs, in a container that has them).

    Example:
        >>> [hex(byte) for byte in pack([1, 2, -1, -8], "s4")]
        ['0x21', '0x8f']
    """
    type_, holder = _resolve(type_, container)
    bits = to_bits(values, type_)
    width, count = holder.width(type_), bits.shape[-1]
    whole = holder.run or max(1, 8 // width)
    if holder.run == 0 and width == 6:
        whole = 4
    if count % whole:
        raise TilecError(
            f"rows of {counted(count, 'element')} do not fill {container} {type_} in {whole}s"
        )
    if width >= 8:
        shift = bits.dtype.type(holder.shift(type_))
        return np.ascontiguousarray(bits << shift).view(np.uint8)
    single = np.unpackbits(bits[..., None], axis=-1, count=width, bitorder="little")
    run = holder.run or count
    runs = single.reshape(*bits.shape[:-1], count // run, run * width)
    packed = np.packbits(runs, axis=-1, bitorder="little")
    pads = [(0, 0)] * (packed.ndim - 1) + [(0, holder.padding)]
    return np.pad(packed, pads).reshape(*bits.shape[:-1], -1)


def unpack(memory: Memory, type_: ElementType | str, container: str = "packed") -> NDArray[Any]:
    """The inverse of `pack`: numbers in the numpy type of the element type.

    Raises:
        TilecError: for a container that does not take the type.
    """
    type_, holder = _resolve(type_, container)
    width, outer = holder.width(type_), memory.shape[:-1]
    if width >= 8:
        words: Bits = np.ascontiguousarray(memory).view(f"u{width // 8}")
        return from_bits(words >> words.dtype.type(holder.shift(type_)), type_)
    if holder.run:
        each = holder.run * width // 8
        memory = memory.reshape(*outer, -1, each + holder.padding)[..., :each].reshape(*outer, -1)
    single = np.unpackbits(memory, axis=-1, bitorder="little")
    codes = np.packbits(single.reshape(*outer, -1, width), axis=-1, bitorder="little")[..., 0]
    return from_bits(codes, type_)


def _resolve(type_: ElementType | str, container: str) -> tuple[ElementType, Container]:
    type_ = element_type(type_) if isinstance(type_, str) else type_
    if container not in CONTAINERS:
        raise UnknownNameError("container", container, CONTAINERS)
    holder = CONTAINERS[container]
    if not holder.takes(type_):
        legal = [name for name, other in CONTAINERS.items() if other.takes(type_)]
        raise TilecError(f"{container} does not take {type_}; legal: {', '.join(legal)}")
    return type_, holder
