"""Addresses in swizzled shared memory.

The offset of a place is linear in the bits of its row and column, so the offset of a sum whose
parts share no bits is the exclusive or of their offsets: one part for what the kernel computes
at run time, one for the lane, both shared by all accesses of a tile, and a constant for each.
A constant whose offset has no bit in common with the rest is added, where the instruction
takes it as an immediate.
"""

from __future__ import annotations

from functools import cached_property, lru_cache, partial, reduce
from typing import Any

from tilec.dialects.tile.shared import SharedBuffer
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.layout import LinearLayout

from ..analysis.multiples import ANY
from ..analysis.possible_bits import possible_bits
from ..emit import add, add_constant, create, index_constant, linear
from .addresses import Address, moved
from .indices import Index, split
from .kernel import Kernel
from .registers import constant_i64, i64


class SharedAccess:
    """Where a tile begins in a buffer, and what of it a thread accesses.

    Args:
        kernel: the kernel.
        base: pointer to the buffer.
        buffer: its shape and swizzle.
        number: which of its matrices.
        row: row of the tile's origin.
        col: column of it.
        place: (lane or thread) -> (row, col) within the tile.
        dim: the input of `place`.

    Attributes:
        col: column of the tile's origin.
    """

    def __init__(
        self,
        kernel: Kernel,
        base: Any,
        buffer: SharedBuffer,
        number: Index,
        row: Index,
        col: Index,
        place: LinearLayout,
        dim: str,
    ) -> None:
        self._kernel = kernel
        self._base = base
        self._buffer = buffer
        self._number = number
        self._row = row
        self.col = col
        self._place = place
        self._dim = dim
        self._lanes = _bits(place, dim)
        self._run_time = [0 if at.value is None else possible_bits(at.value) for at in (row, col)]
        self._pointers: dict[int, Any] = {}

    def alignment(self) -> int:
        """Elements of which the offset of the tile's origin is a multiple, whatever the row.

        Of offsets as swizzled: so many elements from a multiple of it on lie side by side.
        """
        layout = self._buffer.layout
        offsets = [layout(row=self._row.constant, col=self.col.constant)[0]]
        together = reduce(int.__or__, [*offsets, *self._run_time_offsets()])
        return together & -together if together else ANY

    def pointer(self, place: tuple[int, ...]) -> Any:
        """The address of this thread's place, `place` further into the tile.

        Raises:
            TilecError: if it is known to lie outside the buffer.
        """
        return self.address(place).value()

    def address(self, place: tuple[int, ...]) -> Address:
        """The same as a pointer and a constant.

        Raises:
            TilecError: if it is known to lie outside the buffer.
        """
        row, col = place[0] + self._row.constant, place[1] + self.col.constant
        self._check_inside(row, col)
        if not self._disjoint(row, col):
            return self._slow_address(row, col)
        buffer = self._buffer
        (constant,) = buffer.layout(row=row, col=col)
        near = constant & self._reach
        if near not in self._pointers:
            self._pointers[near] = self._near(near)
        far = self._number.constant * buffer.matrix_bytes + (constant ^ near) * buffer.element_bytes
        return Address(self._pointers[near], far)

    def _near(self, constant: int) -> Any:
        """The address of this thread's place, moved within the bits that it may set."""
        buffer = self._buffer
        key = "pointer", constant, self._place, buffer.layout, buffer.element_bytes
        known = [self._base, self._number.value, self._row.value, self.col.value]
        return self._kernel.once(key, known, partial(self._emit_near, constant))

    def _emit_near(self, constant: int) -> Any:
        varying = offset = self._varying()
        if constant:
            count = constant * self._buffer.element_bytes
            offset = self._kernel.once(
                ("near", count),
                [varying],
                lambda: create("llvm.xor", [varying, constant_i64(count)], i64()),
            )
        return self._based(offset)

    def _check_inside(self, row: int, col: int) -> None:
        """Refuse constant places outside the buffer."""
        buffer, number = self._buffer, self._number.constant
        rows, cols = self._lanes
        if self._row.value is None:
            _refuse_outside("row", row, row + rows, buffer.rows)
        if self.col.value is None:
            _refuse_outside("column", col, col + cols, buffer.cols)
        if self._number.value is None:
            _refuse_outside("matrix", number, number, buffer.count)

    def _disjoint(self, row: int, col: int) -> bool:
        """Whether run-time part, lane's part and constant share no bits, in row and in column."""
        (row_bits, col_bits), (rows, cols) = self._run_time, self._lanes
        shared_in_row = row & rows | row_bits & (row | rows)
        return not (shared_in_row or col & cols | col_bits & (col | cols))

    @cached_property
    def _reach(self) -> int:
        """Mask of the offset's bits that the run-time and lane parts may set."""
        (lanes,) = _bits(_composed(self._place, self._buffer.layout), self._dim)
        return reduce(int.__or__, self._run_time_offsets(), lanes)

    def _run_time_offsets(self) -> list[int]:
        """Offsets of the bits of row and column that what is known at run time only may set."""
        if not any(self._run_time):
            return []
        return [
            image
            for name, bits in zip(("row", "col"), self._run_time, strict=True)
            for bit, image in enumerate(self._buffer.layout.columns_of(name))
            if bits >> bit & 1
        ]

    def _varying(self) -> Any:
        """Bytes from the matrix's start: run-time part and lane's part."""
        places = self._place, self._buffer.layout, self._buffer.element_bytes
        values = [self._row.value, self.col.value]
        return self._kernel.once(("varying", *places), values, self._emit_varying)

    def _emit_varying(self) -> Any:
        layout = self._buffer.layout
        total = None
        for name, index in (("row", self._row), ("col", self.col)):
            if index.value is not None:
                (part,) = linear(layout, name, index.value)
                total = part if total is None else _xor(total, part)
        (lane,) = self._kernel.places(_composed(self._place, layout), self._dim)
        total = lane if total is None else _xor(total, lane)
        return self._bytes(total)

    def _slow_address(self, row: int, col: int) -> Address:
        """As `address`, for parts that carry into each other: sum first, then swizzle."""
        places = self._kernel.places(self._place, self._dim)
        total = None
        for name, index, constant, lane in (
            ("row", self._row, row, places[0]),
            ("col", self.col, col, places[1]),
        ):
            value = add_constant(lane, constant)
            if index.value is not None:
                value = add(value, index.value)
            (part,) = linear(self._buffer.layout, name, value)
            total = part if total is None else _xor(total, part)
        pointer = self._based(self._bytes(total))
        return Address(pointer, self._number.constant * self._buffer.matrix_bytes)

    def _bytes(self, elements: Any) -> Any:
        wide = create("arith.index_castui", [elements], i64())
        shift = self._buffer.element_bytes.bit_length() - 1
        return create("llvm.shl", [wide, constant_i64(shift)], i64()) if shift else wide

    def _based(self, offset: Any) -> Any:
        base = self._base
        if self._number.value is not None:
            base = self._kernel.once(
                ("matrix", self._buffer.matrix_bytes),
                [self._base, self._number.value],
                lambda: moved(self._base, self._matrix()),
            )
        return moved(base, offset)

    def _matrix(self) -> Any:
        """Bytes from the buffer's start to the matrix, but for the constant."""
        number = create("arith.index_castui", [self._number.value], i64())
        return create("llvm.mul", [number, constant_i64(self._buffer.matrix_bytes)], i64())


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
    return SharedAccess(kernel, base, buffer, number, split(row), split(col), place, dim)


def _refuse_outside(what: str, first: int, last: int, extent: int) -> None:
    if first < 0 or last >= extent:
        at = first if first < 0 else last
        raise TilecError(f"reaches {what} {at} of a shared buffer that has {extent}")


@lru_cache(maxsize=1024)
def _composed(first: LinearLayout, second: LinearLayout) -> LinearLayout:
    return first.then(second)


@lru_cache(maxsize=1024)
def _bits(places: LinearLayout, dim: str) -> tuple[int, ...]:
    """The bits of each output that an index of `dim` may set."""
    images = places.bases[dim]
    return tuple(reduce(int.__or__, (i[at] for i in images), 0) for at in range(len(places.outs)))


def _xor(a: Any, b: Any) -> Any:
    return create("arith.xori", [a, b], ir.IndexType.get())
