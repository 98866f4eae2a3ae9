"""Addresses in global memory of elements that have offsets, or conditions, of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import TypeAlias

from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm
from tilec.ir.ops.llvm import ICmp
from tilec.ir.types import i64, width_of
from tilec.layout import LinearLayout

from ..analysis.multiples import ANY
from .addresses import Address, address
from .bounds import Along, Lane
from .descriptor import Descriptor
from .indices import Index, split
from .lowering import Lowering

Elements: TypeAlias = list[Value]
"""One value for each element that a lane holds."""
Place: TypeAlias = tuple[int, ...]
"""Of an element in its fragment, less what the lane adds."""


class IndexedAccess:
    """What a lane accesses of a memref at indices of which some are each element's own.

    Args:
        kernel: the kernel.
        memref: the memory.
        indices: of the fragment's origin, one a dimension.
        offsets: by dimension, how far from the index each element lies that a lane holds.
        mask: whether each element is moved; None if all are.
        layout: (register, lane) -> place.
    """

    def __init__(
        self,
        kernel: Lowering,
        memref: Value,
        indices: Sequence[Value],
        offsets: Mapping[int, Elements],
        mask: Elements | None,
        layout: LinearLayout,
    ) -> None:
        self._kernel = kernel
        self._descriptor = kernel.once(Descriptor, memref)
        self._mask = mask
        self._registers: Mapping[Place, int] = {
            layout(register=r): r for r in range(layout.in_size("register"))
        }
        self._first = len(indices) - len(layout.outs)
        self._own = offsets
        self._indices = [kernel.asked(split, index) for index in indices]
        lane = layout.restrict(ins=("lane",))
        self._along = [
            kernel.once(Along, memref, dim, index.value, self._lane(lane, dim))
            for dim, index in enumerate(self._indices)
        ]
        self._known: dict[tuple[int, Value], Value] = {}
        self._starts: dict[tuple[Value, ...], Value] = {}

    def alignment(self, promised: int) -> int:
        """Elements that are contiguous and aligned at the fragment's origin.

        Args:
            promised: elements that are so from each multiple of it in the last dimension on.
        """
        last = self._indices[-1]
        if len(self._indices) - 1 in self._own or self._descriptor.static_strides[-1] != 1:
            return 1
        start = last.multiple if last.value is not None else ANY
        if last.constant:
            start = min(start, last.constant & -last.constant)
        return min(promised, start)

    def inside(self, place: Place, others: Sequence[Value], *, bounds: bool) -> Value:
        """Whether this lane's element at `place` is moved, an i1.

        Args:
            place: of the element.
            others: conditions that must hold, too.
            bounds: whether the element may lie outside the memory.
        """
        tests = list(others)
        if self._mask is not None:
            tests.append(self._mask[self._registers[place]])
        if bounds:
            for dim in range(self._descriptor.rank):
                tests.append(self._is_inside(dim, place))
        return reduce(llvm.and_, tests)

    def address(self, place: Place) -> Address:
        """The address of this lane's element at `place`."""
        constant = 0
        offsets: list[tuple[int, int]] = []
        for dim, index in enumerate(self._indices):
            count = 0 if dim in self._own else index.constant + self._further(dim, place)
            stride = self._descriptor.static_strides[dim]
            if stride is not None:
                constant += count * stride
            elif count:
                offsets.append((dim, count))
        pointer = self._start(place)
        for dim, count in offsets:
            steps = self._kernel.once(_steps, self._descriptor, count, dim)
            pointer = self._descriptor.advance(pointer, steps)
        return address(pointer, constant * self._descriptor.element_bits // 8)

    def _lane(self, lane: LinearLayout, dim: int) -> Lane | None:
        at = dim - self._first
        if at < 0 or dim in self._own or not any(image[at] for image in lane.bases["lane"]):
            return None
        return Lane(lane, "lane", at)

    def _further(self, dim: int, place: Place) -> int:
        return place[dim - self._first] if dim >= self._first else 0

    def _is_inside(self, dim: int, place: Place) -> Value:
        if dim in self._own:  # as a number without sign: one below zero is outside, too
            return llvm.icmp(ICmp.ULT, self._index(dim, place), self._descriptor.size(dim))
        count = self._indices[dim].constant + self._further(dim, place)
        return self._along[dim].holds(count, shared=False)

    def _index(self, dim: int, place: Place) -> Value:
        """The index of an element that has an offset of its own, i64."""
        own = self._own[dim][self._registers[place]]
        if (dim, own) not in self._known:
            wide = own if width_of(own.type) == 64 else llvm.sext(own, i64())
            start = self._indices[dim]
            if start.value is not None or start.constant:
                wide = llvm.add(wide, self._kernel.once(_i64, start))
            self._known[dim, own] = wide
        return self._known[dim, own]

    def _start(self, place: Place) -> Value:
        """The address at the element's own indices, and at the others' values without constants."""
        own = tuple(self._index(dim, place) for dim in self._own)
        if own not in self._starts:
            others = tuple((d, a) for d, a in enumerate(self._along) if d not in self._own)
            pointer = self._kernel.once(_origin, self._descriptor, others)
            for dim, index in zip(self._own, own, strict=True):
                offset = self._descriptor.times_stride(index, dim)
                pointer = self._descriptor.advance(pointer, offset)
            self._starts[own] = pointer
        return self._starts[own]


def _origin(_: Lowering, descriptor: Descriptor, along: tuple[tuple[int, Along], ...]) -> Value:
    """The address at an index in some dimensions, and at 0 in the others."""
    pointer = descriptor.base()
    for dim, part in along:
        if part.index is not None:
            pointer = descriptor.advance(pointer, descriptor.times_stride(part.index, dim))
    return pointer


def _i64(_: Lowering, index: Index) -> Value:
    """An index as an i64."""
    return arith.index_cast(index.emit(), i64())


def _steps(_: Lowering, descriptor: Descriptor, count: int, dim: int) -> Value:
    """So many strides of a dimension."""
    return descriptor.times_stride(llvm.constant_i64(count), dim)
