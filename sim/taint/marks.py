"""What is undefined of a register, and where that was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..alu import Array
from ..ptx.module import Instruction
from ..widths import dtype_of

UNWRITTEN = np.iinfo(np.int32).max
"""The origin of what nothing has written and nobody has read yet."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The undefined bits of a value of each thread; all arrays broadcast to (CTAs, warps, lanes).

    Attributes:
        bits: 1 where a bit is undefined, of the register's dtype.
        origin: 1 + the position in the text of the instruction that read it first, where any is.
    """

    bits: Array
    origin: Array

    @property
    def threads(self) -> Array:
        """The threads of which any bit is undefined."""
        return some_bit(self.bits)


def some_bit(bits: Array) -> Array:
    """Which elements of an array have a bit that is 1."""
    if bits.dtype == dtype_of(128):  # whose sign bits alone would make a zero
        words = np.ascontiguousarray(bits)[..., None].view(np.uint64)
        return np.asarray((words != 0).any(axis=-1))
    return np.asarray(bits != 0)


def either(first: Array, second: Array) -> Array:
    """Bits that are 1 in one of two arrays of the same dtype."""
    if first.dtype == dtype_of(128):
        words = [np.ascontiguousarray(one)[..., None].view(np.uint64) for one in (first, second)]
        return np.ascontiguousarray(words[0] | words[1]).view(first.dtype)[..., 0]
    return np.asarray(first | second)


def ones(bits: Array) -> Array:
    """All bits of the elements of an array, as a number of its dtype."""
    if bits.dtype == dtype_of(128):
        return np.full(2, ~np.uint64(0)).view(bits.dtype)[0:1].reshape(())
    return np.asarray(np.True_ if bits.dtype == np.bool_ else ~bits.dtype.type(0))


def origin_at(instruction: Instruction) -> int:
    """The origin of what an instruction reads that nothing has written."""
    return instruction.position + 1


def resolved(origin: Array, instruction: Instruction) -> Array:
    """Origins, where what nobody had read is read by an instruction."""
    return np.where(origin == UNWRITTEN, np.int32(origin_at(instruction)), origin)


def combined(marks: Iterable[Marks]) -> tuple[Array, Array]:
    """Threads of which any of some values is undefined, and the origin of one of those."""
    threads = np.zeros((1, 1, 1), np.bool_)
    origin = np.zeros((1, 1, 1), np.int32)
    for one in marks:
        some = one.threads
        threads = threads | some
        origin = np.maximum(origin, np.where(some, one.origin, 0))
    return threads, origin
