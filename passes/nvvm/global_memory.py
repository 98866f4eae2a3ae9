"""Addresses in a memref that upstream lowers: global memory, mostly."""

from __future__ import annotations

from functools import reduce
from typing import Any

from tilec.layout import LinearLayout
from tilec.mlir import ir

from ..contiguity import reaches_inside, together
from ..emit import create
from ..multiples import ANY
from .indices import Index, split
from .kernel import Kernel


def i64() -> Any:
    """The type i64."""
    return ir.IntegerType.get_signless(64)


def constant_i64(value: int) -> Any:
    """An `llvm.mlir.constant` of type i64."""
    return create("llvm.mlir.constant", [], i64(), value=ir.IntegerAttr.get(i64(), value))


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

        struct = self._kernel.once(("descriptor", self._memref), whole)
        type_ = (
            i64()
            if position[0] > 1
            else ir.Type.parse(str(struct.type)[14:].split(",")[0].replace("ptr", "!llvm.ptr"))
        )
        return self._kernel.once(
            ("field", self._memref, position),
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
        varying = self._varying(dim)
        if varying is None:
            return constant_i64(constant)
        if not constant:
            return varying
        return create("llvm.add", [varying, constant_i64(constant)], i64())

    def inside(self, further: tuple[int, ...]) -> Any:
        """Whether this thread's place, `further` on in the tile's dimensions, is in bounds."""
        conditions = [self._test(self._first + at, step) for at, step in enumerate(further)]
        return reduce(lambda a, b: create("llvm.and", [a, b], a.type), conditions)

    def pointer(self, further: tuple[int, ...]) -> Any:
        """The address of this thread's place, `further` on in the tile's dimensions."""
        origin = self._kernel.once(
            ("origin", self._memref, tuple(i.value for i in self._indices), self._place),
            self._origin,
        )
        constant, total = 0, None
        for dim, index in enumerate(self._indices):
            at = dim - self._first
            count = index.constant + (further[at] if at >= 0 else 0)
            if not count:
                continue
            stride = self.descriptor.static_stride(dim)
            if stride is not None:
                constant += count * stride
                continue
            part = self._kernel.once(
                ("rows", self._memref, dim, count),
                lambda dim=dim, count=count: self.descriptor.times_stride(constant_i64(count), dim),
            )
            total = part if total is None else create("llvm.add", [total, part], i64())
        pointer = origin if total is None else self.descriptor.step(origin, total)
        return pointer if not constant else self.descriptor.step(pointer, constant_i64(constant))

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
        place = (index.value, index.constant, self._place, further)
        key = ("inside", self._memref, dim, self._leading(), place)
        return self._kernel.once(key, emit)

    def _bound(self, dim: int) -> Any:
        """Where a dimension ends: at 0 if an index before the tile's is out of bounds."""
        size = self.descriptor.size(dim)
        if dim != self._first or not self._unsure:
            return size

        def emit() -> Any:
            tests = [self._test(leading, 0) for leading in self._unsure]
            inside = reduce(lambda a, b: create("llvm.and", [a, b], a.type), tests)
            return create("llvm.select", [inside, size, constant_i64(0)], i64())

        return self._kernel.once(("bound", self._memref, self._leading()), emit)

    def _leading(self) -> tuple[Any, ...]:
        """The indices before the tile's dimensions, as a key."""
        return tuple((i.value, i.constant) for i in self._indices[: self._first])

    def _origin(self) -> Any:
        """The address of this thread's place in the tile, without the indices' constants."""
        pointer = self.descriptor.base()
        for dim in range(self.descriptor.rank):
            varying = self._varying(dim)
            if varying is not None:
                offset = self.descriptor.times_stride(varying, dim)
                pointer = self.descriptor.step(pointer, offset)
        return pointer

    def _varying(self, dim: int) -> Any:
        """What of an index is not constant, i64; None if nothing."""
        index: Index = self._indices[dim]
        at = dim - self._first
        moves = at >= 0 and any(image[at] for image in self._place.bases[self._dim])
        if index.value is None and not moves:
            return None

        def make() -> Any:
            total = index.value
            if moves:
                lane = self._kernel.places(self._place, self._dim)[at]
                total = (
                    lane
                    if total is None
                    else create("arith.addi", [total, lane], ir.IndexType.get())
                )
            return create("arith.index_cast", [total], i64())

        return self._kernel.once(("index", index.value, self._place if moves else None, at), make)
