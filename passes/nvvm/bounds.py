"""An index into a dimension of a memref, as a thread has it, and where the dimension ends."""

from __future__ import annotations

from functools import reduce
from typing import NamedTuple

from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm
from tilec.ir.ops.llvm import ICmp, constant_i32, constant_i64
from tilec.ir.types import i32, i64
from tilec.isa.lazy import cached_property
from tilec.layout import LinearLayout

from ..analysis.contiguity import not_negative
from .cached import cached_method
from .descriptor import Descriptor
from .indices import Index
from .lowering import Lowering


class Lane(NamedTuple):
    """What a thread's number adds to an index.

    Attributes:
        place: (lane or thread) -> place within a tile.
        dim: the input of `place`.
        out: which of its outputs.
    """

    place: LinearLayout
    dim: str
    out: int


class Along:
    """A value and what a thread adds to it, as an index into a dimension.

    One object a kernel and tuple of arguments, by `Lowering.once`, so that all accesses share what
    is computed of them.

    Args:
        kernel: the kernel.
        memref: the memref.
        dim: the dimension.
        value: of type index, or None for none.
        lane: what the thread adds, or None for nothing.
        unsure: further dimensions and their indices, out of whose bounds nothing of this one is in
            bounds.
    """

    def __init__(
        self,
        kernel: Lowering,
        memref: Value,
        dim: int,
        value: Value | None,
        lane: Lane | None,
        unsure: tuple[tuple[int, Index], ...] = (),
    ) -> None:
        self._kernel = kernel
        self._memref = memref
        self._descriptor = kernel.once(Descriptor, memref)
        self._dim = dim
        self._value = value
        self._lane = lane
        self._unsure = unsure

    @cached_property
    def index(self) -> Value | None:
        """The sum, i64; None if it is of nothing."""
        total = self._value
        with self._kernel.interned:
            if self._lane is not None:
                own = self._kernel.places(self._lane.place, self._lane.dim)[self._lane.out]
                total = own if total is None else arith.addi(total, own)
            return None if total is None else arith.index_cast(total, i64())

    @cached_property
    def _end(self) -> Value:
        """Where the dimension ends, i64: at 0 where an unsure index is out of bounds."""
        with self._kernel.interned:
            size = self._descriptor.size(self._dim)
            if not self._unsure:
                return size
            tests = [
                self._kernel.once(Along, self._memref, dim, index.value, None).holds(
                    index.constant, shared=False
                )
                for dim, index in self._unsure
            ]
            return llvm.select(reduce(llvm.and_, tests), size, constant_i64(0))

    @cached_property
    def _is_positive(self) -> bool:
        """Whether the value is known not to be negative."""
        return self._value is None or not_negative(self._value)

    @cached_property
    def _left(self) -> Value:
        """Elements from the index to the end, i64."""
        with self._kernel.interned:
            return self._end if self.index is None else llvm.sub(self._end, self.index)

    def _further(self, count: int) -> Value:
        """The index so much further, i64."""
        if self.index is None:
            return constant_i64(count)
        return llvm.add(self.index, constant_i64(count)) if count else self.index

    @cached_method
    def holds(self, count: int, *, shared: bool) -> Value:
        """Whether the index, `count` further, is in bounds, an i1.

        Args:
            count: a constant.
            shared: whether there are tests of several counts, which share what they can.
        """
        with self._kernel.interned:
            if count >= 0 and shared and self._is_positive:
                return llvm.icmp(ICmp.SGT, self._left, constant_i64(count))
            # An index that wraps around is outside, too.
            return llvm.icmp(ICmp.ULT, self._further(count), self._end)

    @cached_method
    def bytes_left(self, count: int, parts: int, size: int, *, shared: bool) -> Value:
        """Bytes of a vector from the index, `count` further, on that are in bounds, i32.

        Args:
            count: a constant.
            parts: into how many parts of the vector the end may cut it.
            size: bytes of the vector.
            shared: as in `holds`.
        """
        with self._kernel.interned:
            left = llvm.sub(self._end, self._further(count))
            inside = self.holds(count, shared=shared)
            rest = llvm.trunc(llvm.smin(left, constant_i64(parts)), i32())
            bytes_ = llvm.mul(rest, constant_i32(size // parts))
            return llvm.select(inside, bytes_, constant_i32(0))
