"""Addresses in a memref that upstream lowers: global memory, mostly."""

from __future__ import annotations

from functools import partial, reduce
from typing import Any

from tilec.layout import LinearLayout
from tilec.mlir import ir

from ..analysis.contiguity import reaches_inside, together
from ..analysis.multiples import ANY
from ..emit import create
from .indices import split
from .kernel import Kernel, nesting
from .registers import constant_i64, i64


class Descriptor:
    """Pointer, sizes and strides of a memref value.

    The memref is cast to the struct that upstream's conversion makes of it, with which the
    cast cancels out; what its type says statically is taken from there.
    """

    def __init__(self, kernel: Kernel, memref: Any) -> None:
        self._kernel = kernel
        self._memref = memref
        self._type = memref.type
        self._strides, self._offset = self._type.get_strides_and_offset()

    @property
    def rank(self) -> int:
        """Dimensions of the memref."""
        return int(self._type.rank)

    def _field(self, *position: int) -> Any:
        def whole() -> Any:
            space = self._type.memory_space
            number = int(space.value) if isinstance(space, ir.IntegerAttr) else 0
            pointer = f"ptr<{number}>" if number else "ptr"
            array = f"array<{self.rank} x i64>"
            struct = ir.Type.parse(f"!llvm.struct<({pointer}, {pointer}, i64, {array}, {array})>")
            return create("builtin.unrealized_conversion_cast", [self._memref], struct)

        struct = self._kernel.once("descriptor", [self._memref], whole)
        type_ = (
            i64()
            if position[0] > 1
            else ir.Type.parse(str(struct.type)[14:].split(",")[0].replace("ptr", "!llvm.ptr"))
        )
        return self._kernel.once(
            ("field", position),
            [self._memref],
            lambda: create(
                "llvm.extractvalue", [struct], type_, position=ir.DenseI64ArrayAttr.get(position)
            ),
        )

    def base(self) -> Any:
        """The aligned pointer, moved by the memref's offset."""
        pointer = self._field(1)
        if self._offset == 0:
            return pointer
        dynamic = self._offset == ir.ShapedType.get_dynamic_stride_or_offset()
        offset = self._field(2) if dynamic else constant_i64(self._offset)
        return self._gep(pointer, offset)

    def size(self, dim: int) -> Any:
        """Extent of a dimension, i64."""
        if self._type.is_dynamic_dim(dim):
            return self._field(3, dim)
        return constant_i64(self._type.get_dim_size(dim))

    def static_stride(self, dim: int) -> int | None:
        """Stride of a dimension in elements, if the type says it."""
        stride = self._strides[dim]
        return None if stride == ir.ShapedType.get_dynamic_stride_or_offset() else int(stride)

    def stride(self, dim: int) -> Any:
        """Stride of a dimension in elements, i64."""
        stride = self.static_stride(dim)
        return self._field(4, dim) if stride is None else constant_i64(stride)

    def times_stride(self, value: Any, dim: int) -> Any:
        """`value` (i64) times the stride of a dimension."""
        if self.static_stride(dim) == 1:
            return value
        return create("llvm.mul", [value, self.stride(dim)], i64())

    def _gep(self, pointer: Any, offset: Any) -> Any:
        element = self._type.element_type
        bits = int(element.width)
        return create(
            "llvm.getelementptr",
            [pointer, offset],
            pointer.type,
            elem_type=ir.TypeAttr.get(ir.IntegerType.get_signless(max(8, bits))),
            rawConstantIndices=ir.DenseI32ArrayAttr.get([-(1 << 31)]),
        )

    def step(self, pointer: Any, offset: Any) -> Any:
        """The pointer `offset` (i64) elements further."""
        return self._gep(pointer, offset)


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

    def alignment(self, promised: int) -> int:
        """Elements that are contiguous and aligned at the tile's origin.

        Args:
            promised: elements that are so from each multiple of it in the last dimension on.
        """
        last = self._indices[-1]
        if self.descriptor.static_stride(self.descriptor.rank - 1) != 1:
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

    def coordinate(self, dim: int, further: int) -> Any:
        """Index in a dimension of this thread's place, `further` on, i64."""
        index = self._indices[dim]
        constant = index.constant + further
        varying = self._varying(dim, index.value)
        if varying is None:
            return constant_i64(constant)
        if not constant:
            return varying
        return create("llvm.add", [varying, constant_i64(constant)], i64())

    def inside(self, further: tuple[int, ...]) -> Any:
        """Whether this thread's place, `further` on in the tile's dimensions, is in bounds."""
        conditions = [self._test(self._first + at, step) for at, step in enumerate(further)]
        return reduce(lambda a, b: create("llvm.and", [a, b], a.type), conditions)

    def left(self, further: int, most: int) -> Any:
        """Elements from this thread's place, `further` on, to the row's end; `most` at most."""
        last = self.descriptor.rank - 1
        index = self._indices[last]

        def emit() -> Any:
            rest = [self.descriptor.size(last), self.coordinate(last, further)]
            return create(
                "llvm.intr.smin", [create("llvm.sub", rest, i64()), constant_i64(most)], i64()
            )

        key = ("left", index.constant, self._place, further, most)
        return self._kernel.once(key, [self._memref, index.value], emit)

    def pointer(self, further: tuple[int, ...]) -> Any:
        """The address of this thread's place, `further` on in the tile's dimensions."""
        counts = [
            index.constant + (further[dim - self._first] if dim >= self._first else 0)
            for dim, index in enumerate(self._indices)
        ]
        strides = [self.descriptor.static_stride(dim) for dim in range(self.descriptor.rank)]
        constant = sum(c * s for c, s in zip(counts, strides, strict=True) if s is not None)
        rows = [(d, c) for d, c in enumerate(counts) if c and strides[d] is None]
        pointer = self._origin()
        if rows:
            start = pointer
            pointer = self._kernel.once(
                ("rows", *rows),
                [self._memref, start],
                lambda: self.descriptor.step(start, self._elements(rows)),
            )
        return pointer if not constant else self.descriptor.step(pointer, constant_i64(constant))

    def _elements(self, rows: list[tuple[int, int]]) -> Any:
        """How many elements it is to so many rows further in each dimension, i64."""
        parts = [
            self._kernel.once(
                ("elements", dim, count),
                [self._memref],
                partial(self._rows, count, dim),
            )
            for dim, count in rows
        ]
        return reduce(lambda a, b: create("llvm.add", [a, b], i64()), parts)

    def _rows(self, count: int, dim: int) -> Any:
        return self.descriptor.times_stride(constant_i64(count), dim)

    def _test(self, dim: int, further: int) -> Any:
        """Whether the index in one dimension is in bounds."""

        def emit() -> Any:
            return create(
                "llvm.icmp",
                [self.coordinate(dim, further), self._bound(dim)],
                ir.IntegerType.get_signless(1),
                # unsigned less than: a negative index is outside, too
                predicate=ir.IntegerAttr.get(i64(), 6),
            )

        index = self._indices[dim]
        constants, values = self._leading()
        key = ("inside", dim, index.constant, constants, self._place, further)
        return self._kernel.once(key, [self._memref, index.value, *values], emit)

    def _bound(self, dim: int) -> Any:
        """Where a dimension ends: at 0 if an index before the tile's is out of bounds."""
        size = self.descriptor.size(dim)
        if dim != self._first or not self._unsure:
            return size

        def emit() -> Any:
            tests = [self._test(leading, 0) for leading in self._unsure]
            inside = reduce(lambda a, b: create("llvm.and", [a, b], a.type), tests)
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
                    pointer = self.descriptor.step(pointer, offset)
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
            return self.descriptor.step(pointer, self.descriptor.times_stride(offset, dim))

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
