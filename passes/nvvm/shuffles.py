"""Values of any width from lane to lane, 32 bits at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tilec.ir.mlir import ir
from tilec.isa import LANES

from ..emit import create
from .registers import (
    REGISTER_BITS,
    Packing,
    bitcast,
    constant_i32,
    elements,
    i32,
    vector,
)


def by_words(value: Any, bits: int, read: Callable[[Any], Any]) -> Any:
    """What `read` makes of each 32-bit word of a value, put together as its type.

    Args:
        value: a scalar or vector; one of less than a word is read as the low bits of one.
        bits: its width.
        read: gives another lane's word for this lane's.
    """
    type_ = value.type
    if bits < REGISTER_BITS:
        narrow = ir.IntegerType.get_signless(bits)
        word = create("llvm.zext", [bitcast(value, narrow)], i32())
        return bitcast(create("llvm.trunc", [read(word)], narrow), type_)
    if bits == REGISTER_BITS:
        return bitcast(read(bitcast(value, i32())), type_)
    several = Packing(i32(), bits // REGISTER_BITS, 1)
    words = elements([bitcast(value, several.type)], several)
    return bitcast(vector([read(word) for word in words]), type_)


def shuffle(word: Any, other: Any, kind: str) -> Any:
    """`shfl.sync` of an i32 by the whole warp.

    Args:
        word: what the lane sends.
        other: an i32, the mask or lane by which it reads.
        kind: `bfly` or `idx`.
    """
    return create(
        "nvvm.shfl.sync",
        [constant_i32(-1), word, other, constant_i32(LANES - 1)],
        i32(),
        kind=ir.Attribute.parse(f"#nvvm<shfl_kind {kind}>"),
    )


def butterfly(value: Any, bits: int, mask: int) -> Any:
    """The value that lane i ^ `mask` has."""
    return by_words(value, bits, lambda word: shuffle(word, constant_i32(mask), "bfly"))
