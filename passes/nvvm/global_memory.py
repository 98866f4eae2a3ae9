"""Addresses in a memref that upstream lowers: global memory, mostly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any

from tilec.ir.mlir import ir
from tilec.layout import LinearLayout

from ..analysis.contiguity import not_negative, reaches_inside, together
from ..analysis.multiples import ANY
from ..emit import create
from .addresses import Address, address
from .descriptor import Descriptor
from .indices import split
from .kernel import Kernel, nesting
from .registers import constant_i32, constant_i64, i32, i64

_SIGNED_GREATER = 4
_UNSIGNED_LESS = 6
"""Predicates of `llvm.icmp`."""


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
        self, kernel: Kernel, memref: Any, indices: list[Any], place: LinearLayout, dim: str
    ) -> None:
        self._kernel = kernel
        self._place = place
        self._dim = dim
        self.descriptor = Descriptor(kernel, memref)
        self._indices = [split(i) for i in indices]
        self._first = len(indices) - len(place.outs)
        self._memref = memref
        self._unsure = [
            dim for dim in range(self._first) if not reaches_inside(memref, dim, indices[dim])
        ]
        self._starts: dict[tuple[int, ...], Any] = {}
        self._shared: set[int] = set()
        self._tests: dict[tuple[int, int], Any] = {}

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

    def inside(self, further: tuple[int, ...], *others: Any) -> Any:
        """Whether this thread's place, `further` on in the tile's dimensions, is in bounds.

        Args:
            further: one number a dimension of the tile.
            others: conditions that must hold, too.
        """
        tests = [self._test(self._first + at, step) for at, step in enumerate(further)]
        *leading, last = [*others, *tests]
        if len(leading) > 1:
            leading = [self._kernel.once("all", leading, partial(reduce, _both, leading))]
        return reduce(_both, [*leading, last])

    def bytes_inside(self, further: tuple[int, ...], parts: int, size: int) -> Any:
        """Bytes of this thread's vector, `further` on, that are in bounds, i32.

        Args:
            further: one number a dimension of the tile, of which there are two or more.
            parts: into how many parts of a vector a row's end may cut it.
            size: bytes of a vector.
        """
        if parts == 1:  # ptxas makes a predicate of all or nothing, and much more of less
            return self._if(self.inside(further), self._constant(size))
        *rows, last = further
        tests = [self._test(self._first + at, step) for at, step in enumerate(rows)]
        return self._if(reduce(_both, tests), self._bytes_of_row(last, parts, size))

    def _bytes_of_row(self, further: int, parts: int, size: int) -> Any:
        """Bytes of this thread's vector, `further` on in its row, before the row's end, i32."""
        last = self.descriptor.rank - 1
        count = self._indices[last].constant + further

        def emit() -> Any:
            left = create("llvm.sub", [self._bound(last), self._coordinate(last, count)], i64())
            inside = self._test(last, further)
            left = create("llvm.intr.smin", [left, constant_i64(parts)], i64())
            rest = create("llvm.trunc", [left], i32())
            bytes_ = create("llvm.mul", [rest, self._constant(size // parts)], i32())
            return self._if(inside, bytes_)

        return self._once(("bytes", count, parts, size), last, emit)

    def _if(self, condition: Any, value: Any) -> Any:
        """An i32, or 0."""
        return create("llvm.select", [condition, value, self._constant(0)], i32())

    def _constant(self, value: int) -> Any:
        """An i32, for the whole kernel."""
        return self._kernel.once(("i32", value), (), partial(constant_i32, value))

    def pointer(self, further: tuple[int, ...]) -> Any:
        """The address of this thread's place, `further` on in the tile's dimensions."""
        return self.address(further).value()

    def address(self, further: tuple[int, ...]) -> Address:
        """The same as a pointer and a constant."""
        constant = 0
        rows = [0] * len(self._indices)
        for dim, (index, stride) in enumerate(
            zip(self._indices, self.descriptor.static_strides, strict=True)
        ):
            count = index.constant
            if dim >= self._first:
                count += further[dim - self._first]
            if stride is not None:
                constant += count * stride
            else:
                rows[dim] = count
        return address(self._start(tuple(rows)), constant * self.descriptor.element_bits // 8)

    def _start(self, rows: tuple[int, ...]) -> Any:
        """The address of this thread's place so many further in each dimension."""
        if not self._starts:
            self._starts[(0,) * len(rows)] = self._origin()
        if rows not in self._starts:
            origin = next(iter(self._starts.values()))
            self._starts[rows] = self._kernel.once(
                ("rows", rows), [self._memref, origin], partial(self._emit_start, rows)
            )
        return self._starts[rows]

    def _emit_start(self, rows: tuple[int, ...]) -> Any:
        """Steps from the last address: they are often of the same size."""
        last, pointer = next(reversed(self._starts.items()))
        for dim, (row, at) in enumerate(zip(rows, last, strict=True)):
            if row != at:
                distance = self._kernel.once(
                    ("distance", dim, row - at),
                    [self._memref],
                    partial(self._distance, row - at, dim),
                )
                pointer = self.descriptor.moved(pointer, distance)
        return pointer

    def _distance(self, count: int, dim: int) -> Any:
        return self.descriptor.times_stride(constant_i64(count), dim)

    def _test(self, dim: int, further: int) -> Any:
        """Whether the index in one dimension is in bounds."""
        if (dim, further) not in self._tests:
            count = self._indices[dim].constant + further
            self._tests[dim, further] = self._once(
                ("inside", count), dim, partial(self._emit_test, dim, count)
            )
        return self._tests[dim, further]

    def _emit_test(self, dim: int, count: int) -> Any:
        if count >= 0 and dim in self._shared and self._not_negative(dim):
            return _greater(self._left(dim), count)
        # An index that wraps around is outside, too.
        return _compare(_UNSIGNED_LESS, [self._coordinate(dim, count), self._bound(dim)])

    def _not_negative(self, dim: int) -> bool:
        """Whether that is known of this thread's place, without the index's constant."""
        value = self._indices[dim].value
        return value is None or not_negative(value)

    def _coordinate(self, dim: int, count: int) -> Any:
        """Index in a dimension of this thread's place, `count` further than its value, i64."""
        varying = self._varying(dim, self._indices[dim].value)
        if varying is None:
            return constant_i64(count)
        return create("llvm.add", [varying, constant_i64(count)], i64()) if count else varying

    def _left(self, dim: int) -> Any:
        """Elements from this thread's place, without the index's constant, to the end, i64."""

        def emit() -> Any:
            bound, varying = self._bound(dim), self._varying(dim, self._indices[dim].value)
            return bound if varying is None else create("llvm.sub", [bound, varying], i64())

        return self._once(("left",), dim, emit)

    def _once(self, key: tuple[Any, ...], dim: int, emit: Callable[[], Any]) -> Any:
        """What is computed of the index in a dimension, the memref and the indices before it."""
        constants, values = self._leading()
        known = [self._memref, self._indices[dim].value, *values]
        return self._kernel.once((*key, dim, constants, self._place), known, emit)

    def _bound(self, dim: int) -> Any:
        """Where a dimension ends: at 0 if an index before the tile's is out of bounds."""
        size = self.descriptor.size(dim)
        if dim != self._first or not self._unsure:
            return size

        def emit() -> Any:
            tests = [self._test(leading, 0) for leading in self._unsure]
            inside = reduce(_both, tests)
            return create("llvm.select", [inside, size, constant_i64(0)], i64())

        constants, values = self._leading()
        return self._kernel.once(("bound", constants), [self._memref, *values], emit)

    def _leading(self) -> tuple[tuple[int, ...], list[Any]]:
        """Constants and values of the indices before the tile's dimensions."""
        leading = self._indices[: self._first]
        return tuple(i.constant for i in leading), [i.value for i in leading]

    def _origin(self) -> Any:
        """The address of this thread's place in the tile, without the indices' constants.

        What changes in a loop is added behind what does not.
        """
        depths = [0 if i.value is None else nesting(i.value) for i in self._indices]
        values = [
            None if depth else i.value for i, depth in zip(self._indices, depths, strict=True)
        ]

        def fixed() -> Any:
            pointer = self.descriptor.base()
            for dim, value in enumerate(values):
                varying = self._varying(dim, value)
                if varying is not None:
                    offset = self.descriptor.times_stride(varying, dim)
                    pointer = self.descriptor.moved(pointer, offset)
            return pointer

        pointer = self._kernel.once(("origin", self._place), [self._memref, *values], fixed)
        for dim in sorted(range(len(depths)), key=depths.__getitem__):
            if depths[dim]:
                pointer = self._moved(pointer, dim)
        return pointer

    def _moved(self, pointer: Any, dim: int) -> Any:
        """The pointer further by the value of an index."""
        value = self._indices[dim].value

        def emit() -> Any:
            offset = create("arith.index_cast", [value], i64())
            return self.descriptor.moved(pointer, self.descriptor.times_stride(offset, dim))

        return self._kernel.once(("moved", dim), [self._memref, pointer, value], emit)

    def _varying(self, dim: int, value: Any) -> Any:
        """The sum of a value and this thread's place in a dimension, i64; None if both are none."""
        at = dim - self._first
        moves = at >= 0 and any(image[at] for image in self._place.bases[self._dim])
        if value is None and not moves:
            return None

        def make() -> Any:
            total = value
            if moves:
                lane = self._kernel.places(self._place, self._dim)[at]
                total = (
                    lane
                    if total is None
                    else create("arith.addi", [total, lane], ir.IndexType.get())
                )
            return create("arith.index_cast", [total], i64())

        return self._kernel.once(("index", self._place if moves else None, at), [value], make)


def _both(a: Any, b: Any) -> Any:
    return create("llvm.and", [a, b], a.type)


def _greater(value: Any, number: int) -> Any:
    return _compare(_SIGNED_GREATER, [value, constant_i64(number)])


def _compare(predicate: int, operands: list[Any]) -> Any:
    type_ = ir.IntegerType.get_signless(1)
    return create("llvm.icmp", operands, type_, predicate=ir.IntegerAttr.get(i64(), predicate))
