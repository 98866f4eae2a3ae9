"""Addresses in swizzled shared memory.

The offset of a place is linear in the bits of its row and column, so the offset of a sum whose
parts share no bits is the exclusive or of their offsets: one part for what the kernel computes
at run time, one for the lane, both shared by all accesses of a tile, and a constant for each.
A constant whose offset has no bit in common with the rest is added, where the instruction
takes it as an immediate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce

from tilec.dialects.tile.shared import SharedBuffer
from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm
from tilec.ir.ops.llvm import constant_i64
from tilec.ir.types import i64
from tilec.isa import TilecError
from tilec.isa.lazy import cached_property
from tilec.layout import LinearLayout

from ..analysis.multiples import ANY
from ..analysis.possible_bits import possible_bits
from ..emit import add, add_constant, index_constant, linear
from .addresses import Address, advance
from .indices import Index, split
from .lowering import Lowering


class _RunTime:
    """What is known at run time only of where an access is, its constants left out.

    Accesses that differ in constants alone share one, and what is emitted for it.

    Args:
        kernel: the kernel.
        base: pointer to the buffer.
        buffer: its shape and swizzle.
        number: which of its matrices; None for a constant, as of the others.
        row: row of the tile's origin.
        col: column of it.
        place: (lane or thread) -> (row, col) within the tile.
        dim: the input of `place`.

    Attributes:
        lanes: bits of row and column that lanes may set.
        bits: bits of row and column that the origin may set.
        row, col: row and column of the tile's origin.
    """

    def __init__(
        self,
        kernel: Lowering,
        base: Value,
        buffer: SharedBuffer,
        number: Value | None,
        row: Value | None,
        col: Value | None,
        place: LinearLayout,
        dim: str,
    ) -> None:
        self._kernel = kernel
        self._base = base
        self._buffer = buffer
        self._number = number
        self.row = row
        self.col = col
        self._place = place
        self._dim = dim
        self.lanes = _bits(place, dim)
        self.bits = [0 if at is None else kernel.asked(possible_bits, at) for at in (row, col)]

    def near(self, constant: int) -> Value:
        """The address of this thread's place, moved within the bits that it may set."""
        count = constant * self._buffer.element_bytes
        return self._kernel.once(_moved_to, self.matrix, self._offset, count)

    @cached_property
    def _offset(self) -> Value:
        """Bytes from the matrix's start: run-time part and lane's part."""
        layout, size = self._buffer.layout, self._buffer.element_bytes
        values = (self.row, self.col)
        return self._kernel.once(_varying, layout, size, self._place, self._dim, values)

    @cached_property
    def matrix(self) -> Value:
        """The matrix's start, but for the constant."""
        if self._number is None:
            return self._base
        return self._kernel.once(_matrix, self._base, self._number, self._buffer.matrix_bytes)

    @cached_property
    def reach(self) -> int:
        """Mask of the offset's bits that the run-time and lane parts may set."""
        (lanes,) = _bits(_composed(self._place, self._buffer.layout), self._dim)
        return reduce(int.__or__, self.offsets(), lanes)

    def offsets(self) -> list[int]:
        """Offsets of the bits of row and column that what is known at run time only may set."""
        if not any(self.bits):
            return []
        return [
            image
            for name, bits in zip(("row", "col"), self.bits, strict=True)
            for bit, image in enumerate(self._buffer.layout.columns_of(name))
            if bits >> bit & 1
        ]

    def places(self) -> list[Value]:
        """Row and column of the thread's place within the tile."""
        return self._kernel.places(self._place, self._dim)


class SharedAccess:
    """Where a tile begins in a buffer, and what of it a thread accesses.

    Args:
        buffer: the buffer's shape and swizzle.
        number: which of its matrices.
        row: row of the tile's origin.
        col: column of it.
        run_time: the same without their constants, and the place of the thread.

    Attributes:
        col: column of the tile's origin.
    """

    def __init__(
        self, buffer: SharedBuffer, number: Index, row: Index, col: Index, run_time: _RunTime
    ) -> None:
        self._buffer = buffer
        self._number = number
        self._row = row
        self.col = col
        self._run_time = run_time

    def alignment(self) -> int:
        """Elements of which the offset of the tile's origin is a multiple, whatever the row.

        Of offsets as swizzled: so many elements from a multiple of it on lie side by side.
        """
        layout = self._buffer.layout
        offsets = [layout(row=self._row.constant, col=self.col.constant)[0]]
        together = reduce(int.__or__, [*offsets, *self._run_time.offsets()])
        return together & -together if together else ANY

    def pointer(self, place: tuple[int, ...]) -> Value:
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
        near = constant & self._run_time.reach
        far = self._number.constant * buffer.matrix_bytes + (constant ^ near) * buffer.element_bytes
        return Address(self._run_time.near(near), far)

    def _check_inside(self, row: int, col: int) -> None:
        """Refuse constant places outside the buffer."""
        buffer, number = self._buffer, self._number.constant
        rows, cols = self._run_time.lanes
        if self._row.value is None:
            _refuse_outside("row", row, row + rows, buffer.rows)
        if self.col.value is None:
            _refuse_outside("column", col, col + cols, buffer.cols)
        if self._number.value is None:
            _refuse_outside("matrix", number, number, buffer.count)

    def _disjoint(self, row: int, col: int) -> bool:
        """Whether run-time part, lane's part and constant share no bits, in row and in column."""
        (row_bits, col_bits), (rows, cols) = self._run_time.bits, self._run_time.lanes
        shared_in_row = row & rows | row_bits & (row | rows)
        return not (shared_in_row or col & cols | col_bits & (col | cols))

    def _slow_address(self, row: int, col: int) -> Address:
        """As `address`, for parts that carry into each other: sum first, then swizzle."""
        places = self._run_time.places()
        total: Value | None = None
        for name, index, constant, lane in (
            ("row", self._row, row, places[0]),
            ("col", self.col, col, places[1]),
        ):
            value = add_constant(lane, constant)
            if index.value is not None:
                value = add(value, index.value)
            (part,) = linear(self._buffer.layout, name, value)
            total = part if total is None else arith.xori(total, part)
        assert total is not None
        pointer = advance(self._run_time.matrix, _bytes(total, self._buffer.element_bytes))
        return Address(pointer, self._number.constant * self._buffer.matrix_bytes)


def _varying(
    kernel: Lowering,
    layout: LinearLayout,
    element_bytes: int,
    place: LinearLayout,
    dim: str,
    values: tuple[Value | None, Value | None],
) -> Value:
    """Bytes from a matrix's start: run-time part, of row and column, and lane's part."""
    total: Value | None = None
    for name, value in zip(("row", "col"), values, strict=True):
        if value is not None:
            (part,) = linear(layout, name, value)
            total = part if total is None else arith.xori(total, part)
    (lane,) = kernel.places(_composed(place, layout), dim)
    return _bytes(lane if total is None else arith.xori(total, lane), element_bytes)


def _moved_to(_: Lowering, base: Value, offset: Value, count: int) -> Value:
    """The pointer `offset` bytes further, with the bits of a count turned over."""
    return advance(base, llvm.xor(offset, constant_i64(count)) if count else offset)


def _matrix(_: Lowering, base: Value, number: Value, size: int) -> Value:
    """Where the matrix of a number begins in a buffer, each of so many bytes."""
    wide = arith.index_castui(number, i64())
    return advance(base, llvm.mul(wide, constant_i64(size)))


def _bytes(elements: Value, size: int) -> Value:
    """An index in elements of so many bytes as one in bytes, i64."""
    wide = arith.index_castui(elements, i64())
    shift = size.bit_length() - 1
    return llvm.shl(wide, constant_i64(shift)) if shift else wide


def shared_access(
    kernel: Lowering,
    base: Value,
    buffer: SharedBuffer,
    indices: Sequence[Value],
    shape: tuple[int, ...],
    place: LinearLayout,
    dim: str,
) -> SharedAccess:
    """The access at the indices of a memref of `shape` that is `buffer`."""
    *leading, row, col = indices
    number = Index(None, 0)
    stride = 1
    for index, extent in zip(reversed(leading), reversed(shape[:-2]), strict=True):
        part = kernel.asked(split, index)
        value = part.value
        if value is not None and stride != 1:
            value = arith.muli(value, index_constant(stride))
        if number.value is not None:
            both = number.value
            value = both if value is None else arith.addi(both, value)
        number = Index(value, number.constant + part.constant * stride)
        stride *= extent
    row_at, col_at = kernel.asked(split, row), kernel.asked(split, col)
    values = number.value, row_at.value, col_at.value
    run_time = kernel.once(_RunTime, base, buffer, *values, place, dim)
    return SharedAccess(buffer, number, row_at, col_at, run_time)


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
