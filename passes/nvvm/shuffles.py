"""Values of any width from lane to lane, 32 bits at a time."""

from __future__ import annotations

from collections.abc import Callable

from tilec.ir.aliases import Value
from tilec.ir.ops import llvm, nvvm
from tilec.ir.ops.llvm import constant_i32
from tilec.ir.ops.nvvm import Shuffle
from tilec.ir.types import i32, integer

from .registers import REGISTER_BITS, Packing, bitcast, elements, vector


def by_words(value: Value, bits: int, read: Callable[[Value], Value]) -> Value:
    """What `read` makes of each 32-bit word of a value, put together as its type.

    Args:
        value: a scalar or vector; one of less than a word is read as the low bits of one.
        bits: its width.
        read: gives another lane's word for this lane's.
    """
    type_ = value.type
    if bits < REGISTER_BITS:
        narrow = integer(bits)
        word = llvm.zext(bitcast(value, narrow), i32())
        return bitcast(llvm.trunc(read(word), narrow), type_)
    if bits == REGISTER_BITS:
        return bitcast(read(bitcast(value, i32())), type_)
    several = Packing(i32(), bits // REGISTER_BITS, 1)
    words = elements([bitcast(value, several.type)], several)
    return bitcast(vector([read(word) for word in words]), type_)


def butterfly_word(word: Value, mask: int) -> Value:
    """The i32 that lane i ^ `mask` has."""
    return nvvm.shfl_sync(Shuffle.BFLY, word, constant_i32(mask))


def butterfly(value: Value, bits: int, mask: int) -> Value:
    """The value that lane i ^ `mask` has."""
    return by_words(value, bits, lambda word: butterfly_word(word, mask))
