"""Addresses in swizzled shared memory.

The offset of a place is linear in the bits of its row and column, so the offset of a sum whose
parts share no bits is the exclusive or of their offsets: one part for what the kernel computes
at run time, one for the lane, both shared by all accesses of a tile, and a constant for each.
A constant whose offset has no bit in common with the rest is added, where the instruction
takes it as an immediate.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

from tilec.dialects.tile.shared import SharedBuffer
from tilec.isa import TilecError
from tilec.layout import LinearLayout
from tilec.mlir import ir

from ..analysis.multiples import ANY
from ..analysis.possible_bits import possible_bits
from ..emit import add, add_constant, create, index_constant, linear
from .indices import Index, split
from .kernel import Kernel
from .registers import constant_i64, i64


@dataclass(frozen=True, slots=True)
class SharedAccess:
    """Where a tile begins in a buffer, and what of it a thread accesses.

    Attributes:
        kernel: the kernel.
        base: pointer to the buffer.
        buffer: its shape and swizzle.
        number: which of its matrices.
        row: row of the tile's origin.
        col: column of it.
        place: (lane or thread) -> (row, col) within the tile.
        dim: the input of `place`.
        bits: those that may be set in what row and column have besides constants.
    """

    kernel: Kernel
    base: Any
    buffer: SharedBuffer
    number: Index
    row: Index
    col: Index
    place: LinearLayout
    dim: str
    bits: tuple[int, int]

    def alignment(self) -> int:
        """Elements of which the offset of the tile's origin is a multiple, whatever the row.

        Of offsets as swizzled: so many elements from a multiple of it on lie side by side.
        """
        layout = self.buffer.layout
        offsets = [layout(row=self.row.constant, col=self.col.constant)[0]]
        together = reduce(int.__or__, [*offsets, *self._run_time_offsets()])
        return together & -together if together else ANY

    def pointer(self, place: tuple[int, ...]) -> Any:
        """The address of this thread's place, `place` further into the tile.

        Raises:
            TilecError: if it is known to lie outside the buffer.
        """
        layout = self.buffer.layout
        row, col = place[0] + self.row.constant, place[1] + self.col.constant
        self._check_inside(row, col)
        if not self._disjoint(row, col):
            return self._slow_pointer(row, col)
        (constant,) = layout(row=row, col=col)
        mask = self._reach()
        offset = self._varying()
        size = self.buffer.element_bytes
        if constant & mask:
            near = constant & mask
            offset = self.kernel.once(
                ("near", near),
                [offset],
                lambda: create("llvm.xor", [offset, constant_i64(near * size)], i64()),
            )
        far = self.number.constant * self.buffer.matrix_bytes + (constant & ~mask) * size
        pointer = self.kernel.once(
            "pointer", [self.base, self.number.value, offset], lambda: self._based(offset)
        )
        return step(pointer, far)

    def _check_inside(self, row: int, col: int) -> None:
        """Refuse constant places outside the buffer."""
        rows, cols = _bits(self.place, self.dim)
        number = self.number.constant
        for what, index, first, last, extent in (
            ("row", self.row, row, row + rows, self.buffer.rows),
            ("column", self.col, col, col + cols, self.buffer.cols),
            ("matrix", self.number, number, number, self.buffer.count),
        ):
            if index.value is None and (first < 0 or last >= extent):
                at = first if first < 0 else last
                raise TilecError(f"reaches {what} {at} of a shared buffer that has {extent}")

    def _disjoint(self, row: int, col: int) -> bool:
        """Whether run-time part, lane's part and constant share no bits, in row and in column."""
        lanes = _bits(self.place, self.dim)
        return not any(
            constant & lane or bits & (constant | lane)
            for bits, constant, lane in zip(self.bits, (row, col), lanes, strict=True)
        )

    def _reach(self) -> int:
        """Mask of the offset's bits that the run-time and lane parts may set."""
        (lanes,) = _bits(_composed(self.place, self.buffer.layout), self.dim)
        return reduce(int.__or__, self._run_time_offsets(), lanes)

    def _run_time_offsets(self) -> list[int]:
        """Offsets of the bits of row and column that what is known at run time only may set."""
        if not any(self.bits):
            return []
        bases = self.buffer.layout.bases
        return [
            image
            for name, bits in zip(("row", "col"), self.bits, strict=True)
            for bit, (image,) in enumerate(bases[name])
            if bits >> bit & 1
        ]

    def _varying(self) -> Any:
        """Bytes from the matrix's start: run-time part and lane's part."""
        places = self.place, self.buffer.layout, self.buffer.element_bytes
        values = [self.row.value, self.col.value]
        return self.kernel.once(("varying", *places), values, self._emit_varying)

    def _emit_varying(self) -> Any:
        layout = self.buffer.layout
        total = None
        for name, index in (("row", self.row), ("col", self.col)):
            if index.value is not None:
                (part,) = linear(layout, name, index.value)
                total = part if total is None else _xor(total, part)
        (lane,) = self.kernel.places(_composed(self.place, layout), self.dim)
        total = lane if total is None else _xor(total, lane)
        return self._bytes(total)

    def _slow_pointer(self, row: int, col: int) -> Any:
        """As `pointer`, for parts that carry into each other: sum first, then swizzle."""
        places = self.kernel.places(self.place, self.dim)
        total = None
        for name, index, constant, lane in (
            ("row", self.row, row, places[0]),
            ("col", self.col, col, places[1]),
        ):
            value = add_constant(lane, constant)
            if index.value is not None:
                value = add(value, index.value)
            (part,) = linear(self.buffer.layout, name, value)
            total = part if total is None else _xor(total, part)
        pointer = self._based(self._bytes(total))
        return step(pointer, self.number.constant * self.buffer.matrix_bytes)

    def _bytes(self, elements: Any) -> Any:
        wide = create("arith.index_castui", [elements], i64())
        shift = self.buffer.element_bytes.bit_length() - 1
        return create("llvm.shl", [wide, constant_i64(shift)], i64()) if shift else wide

    def _based(self, offset: Any) -> Any:
        base = self.base
        if self.number.value is not None:
            base = self.kernel.once(
                ("matrix", self.buffer.matrix_bytes),
                [self.base, self.number.value],
                lambda: _gep(self.base, self._matrix()),
            )
        return _gep(base, offset)

    def _matrix(self) -> Any:
        """Bytes from the buffer's start to the matrix, but for the constant."""
        number = create("arith.index_castui", [self.number.value], i64())
        return create("llvm.mul", [number, constant_i64(self.buffer.matrix_bytes)], i64())


def shared_access(
    kernel: Kernel,
    base: Any,
    buffer: SharedBuffer,
    indices: list[Any],
    shape: tuple[int, ...],
    place: LinearLayout,
    dim: str,
) -> SharedAccess:
    """The access at the indices of a memref of `shape` that is `buffer`."""
    *leading, row, col = indices
    number = Index(None, 0)
    stride = 1
    for index, extent in zip(reversed(leading), reversed(shape[:-2]), strict=True):
        part = split(index)
        value = part.value
        if value is not None and stride != 1:
            value = create("arith.muli", [value, index_constant(stride)], ir.IndexType.get())
        if number.value is not None:
            both = number.value
            value = (
                both if value is None else create("arith.addi", [both, value], ir.IndexType.get())
            )
        number = Index(value, number.constant + part.constant * stride)
        stride *= extent
    at = split(row), split(col)
    bits = [0 if index.value is None else possible_bits(index.value) for index in at]
    return SharedAccess(kernel, base, buffer, number, *at, place, dim, (bits[0], bits[1]))


@lru_cache(maxsize=1024)
def _composed(first: LinearLayout, second: LinearLayout) -> LinearLayout:
    return first.then(second)


@lru_cache(maxsize=1024)
def _bits(places: LinearLayout, dim: str) -> tuple[int, ...]:
    """The bits of each output that an index of `dim` may set."""
    images = places.bases[dim]
    return tuple(reduce(int.__or__, (i[at] for i in images), 0) for at in range(len(places.outs)))


def step(pointer: Any, count: int) -> Any:
    """The pointer `count` bytes further."""
    return pointer if count == 0 else _gep(pointer, None, count)


def _gep(pointer: Any, offset: Any, constant: int = -(1 << 31)) -> Any:
    """The pointer further by a value, or by a constant where there is none."""
    return create(
        "llvm.getelementptr",
        [pointer] if offset is None else [pointer, offset],
        pointer.type,
        elem_type=ir.TypeAttr.get(ir.IntegerType.get_signless(8)),
        rawConstantIndices=ir.DenseI32ArrayAttr.get([constant]),
    )


def _xor(a: Any, b: Any) -> Any:
    return create("arith.xori", [a, b], ir.IndexType.get())
