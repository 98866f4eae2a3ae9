"""Addresses in a memref that upstream lowers: global memory, mostly."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial, reduce

from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm
from tilec.ir.ops.llvm import constant_i32, constant_i64
from tilec.ir.types import i64
from tilec.layout import LinearLayout

from ..analysis.contiguity import reaches_inside, together
from ..analysis.multiples import ANY
from .addresses import Address, address
from .bounds import Along, Lane
from .descriptor import Descriptor
from .indices import Index, split
from .lowering import Lowering, nesting


class GlobalAccess:
    """Where a tile begins in a memref, and what of it a thread accesses.

    Args:
        kernel: the kernel.
        memref: the memory.
        indices: of the tile's origin, one a dimension.
        place: (lane or thread) -> place within the tile, for the last dimensions.
        dim: the input of `place`.
    """

    def __init__(
        self,
        kernel: Lowering,
        memref: Value,
        indices: Sequence[Value],
        place: LinearLayout,
        dim: str,
    ) -> None:
        self._kernel = kernel
        self.descriptor = kernel.once(Descriptor, memref)
        self._indices = [kernel.asked(split, i) for i in indices]
        self._first = len(indices) - len(place.outs)
        self._memref = memref
        unsure = tuple(
            (dim, self._indices[dim])
            for dim in range(self._first)
            if not reaches_inside(memref, dim, indices[dim])
        )
        bases = place.bases[dim]
        self._lanes = [
            Lane(place, dim, at) if at >= 0 and any(image[at] for image in bases) else None
            for at in range(-self._first, len(place.outs))
        ]
        self._along = [
            self._along_(number, index.value, unsure if number == self._first else ())
            for number, index in enumerate(self._indices)
        ]
        self._starts: dict[tuple[int, ...], Value] = {}
        self._shared: set[int] = set()
        # Of an address a constant, and the indices of dimensions whose stride none knows.
        self._constant, self._rows = 0, [0] * len(indices)
        self._static: list[tuple[int, int]] = []
        self._dynamic: list[tuple[int, int]] = []
        strides = zip(self._indices, self.descriptor.static_strides, strict=True)
        for number, (index, stride) in enumerate(strides):
            at = number - self._first
            if stride is None:
                self._rows[number] = index.constant
                self._dynamic += [(at, number)] if at >= 0 else []
            else:
                self._constant += index.constant * stride
                self._static += [(at, stride)] if at >= 0 else []

    def expect(self, places: Iterable[tuple[int, ...]]) -> None:
        """Say at which places of the tile there are accesses, for tests to share what they can."""
        for dim, at in enumerate(zip(*places, strict=True), start=self._first):
            counts = {self._indices[dim].constant + further for further in at} - {0}
            if len(counts) > 1:
                self._shared.add(dim)

    def alignment(self, promised: int) -> int:
        """Elements that are contiguous and aligned at the tile's origin.

        Args:
            promised: elements that are so from each multiple of it in the last dimension on.
        """
        last = self._indices[-1]
        if self.descriptor.static_strides[-1] != 1:
            return 1
        start = last.multiple if last.value is not None else ANY
        if last.constant:
            start = min(start, last.constant & -last.constant)
        return min(promised, start)

    def whole(self, vector: int) -> bool:
        """Whether so many elements, from each multiple of them on, are in bounds together."""
        start = self._indices[-1]
        aligned = start.multiple % vector == 0 and start.constant % vector == 0
        return aligned and together(self._memref) % vector == 0

    def inside(self, further: tuple[int, ...], *others: Value) -> Value:
        """Whether this thread's place, `further` on in the tile's dimensions, is in bounds.

        Args:
            further: one number a dimension of the tile.
            others: conditions that must hold, too.
        """
        *leading, last = [*others, *self._tests(further)]
        if len(leading) > 1:
            with self._kernel.interned:
                leading = [reduce(llvm.and_, leading)]
        return reduce(llvm.and_, [*leading, last])

    def _tests(self, further: tuple[int, ...]) -> list[Value]:
        """Whether the index is in bounds, in each dimension of the tile or the first of them."""
        return [
            self._along[dim].holds(self._indices[dim].constant + step, shared=dim in self._shared)
            for dim, step in enumerate(further, start=self._first)
        ]

    def bytes_inside(self, further: tuple[int, ...], parts: int, size: int) -> Value:
        """Bytes of this thread's vector, `further` on, that are in bounds, i32.

        Args:
            further: one number a dimension of the tile, of which there are two or more.
            parts: into how many parts of a vector a row's end may cut it.
            size: bytes of a vector.
        """
        if parts == 1:  # ptxas makes a predicate of all or nothing, and much more of less
            return self._if(self.inside(further), self._kernel.once(_i32, size))
        *rows, step = further
        last = len(self._indices) - 1
        count = self._indices[last].constant + step
        left = partial(self._along[last].bytes_left, shared=last in self._shared)
        return self._if(reduce(llvm.and_, self._tests(tuple(rows))), left(count, parts, size))

    def _if(self, condition: Value, value: Value) -> Value:
        """An i32, or 0."""
        return llvm.select(condition, value, self._kernel.once(_i32, 0))

    def pointer(self, further: tuple[int, ...]) -> Value:
        """The address of this thread's place, `further` on in the tile's dimensions."""
        return self.address(further).value()

    def address(self, further: tuple[int, ...]) -> Address:
        """The same as a pointer and a constant."""
        constant, rows = self._constant, self._rows.copy()
        for at, stride in self._static:
            constant += further[at] * stride
        for at, number in self._dynamic:
            rows[number] += further[at]
        return address(self._start(tuple(rows)), constant * self.descriptor.element_bits // 8)

    def _start(self, rows: tuple[int, ...]) -> Value:
        """The address of this thread's place so many further in each dimension."""
        if not self._starts:
            self._starts[(0,) * len(rows)] = self._origin()
        if rows not in self._starts:
            with self._kernel.interned:
                self._starts[rows] = self._emit_start(rows)
        return self._starts[rows]

    def _emit_start(self, rows: tuple[int, ...]) -> Value:
        """Steps from the last address: they are often of the same size."""
        last, pointer = next(reversed(self._starts.items()))
        for dim, (row, at) in enumerate(zip(rows, last, strict=True)):
            if row != at:
                distance = self._kernel.once(_distance, self.descriptor, row - at, dim)
                pointer = self.descriptor.advance(pointer, distance)
        return pointer

    def _origin(self) -> Value:
        """The address of this thread's place in the tile, without the indices' constants.

        What changes in a loop is added behind what does not.
        """
        depths = [0 if i.value is None else nesting(i.value) for i in self._indices]
        values = [
            None if depth else i.value for i, depth in zip(self._indices, depths, strict=True)
        ]
        along = tuple(
            self._along_(dim, value) if depths[dim] else self._along[dim]
            for dim, value in enumerate(values)
        )
        pointer = self._kernel.once(_origin, self.descriptor, along)
        with self._kernel.interned:
            for dim in sorted(range(len(depths)), key=depths.__getitem__):
                value = self._indices[dim].value
                if depths[dim] and value is not None:
                    offset = self.descriptor.times_stride(arith.index_cast(value, i64()), dim)
                    pointer = self.descriptor.advance(pointer, offset)
        return pointer

    def _along_(
        self, dim: int, value: Value | None, unsure: tuple[tuple[int, Index], ...] = ()
    ) -> Along:
        return self._kernel.once(Along, self._memref, dim, value, self._lanes[dim], unsure)


def _origin(_: Lowering, descriptor: Descriptor, along: tuple[Along, ...]) -> Value:
    """The address at an index in each dimension."""
    pointer = descriptor.base()
    for dim, part in enumerate(along):
        if part.index is not None:
            offset = descriptor.times_stride(part.index, dim)
            pointer = descriptor.advance(pointer, offset)
    return pointer


def _distance(_: Lowering, descriptor: Descriptor, count: int, dim: int) -> Value:
    """So many strides of a dimension."""
    return descriptor.times_stride(constant_i64(count), dim)


def _i32(_: Lowering, value: int) -> Value:
    """A constant, for the whole kernel."""
    return constant_i32(value)
