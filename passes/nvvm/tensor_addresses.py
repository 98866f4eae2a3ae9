"""Addresses of tensor memory: a lane in the high half of a word, a column in the low half."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from tilec.dialects.tile.tensor import TensorBuffer, buffer_of
from tilec.ir.aliases import Value
from tilec.ir.ops import arith, llvm
from tilec.ir.types import i32, memref_of
from tilec.isa import TilecError
from tilec.isa.tensor_memory import LANE_BIT

from ..emit import linear
from .indices import Index, split


def tensor_address(memref: Value, base: Value, indices: Sequence[Value]) -> Value:
    """The address of an element of a buffer in tensor memory, an i32.

    Args:
        memref: the buffer.
        base: its address, an i32.
        indices: of the element; its row is a multiple of 16, and of a packed buffer its column one
            of the elements in a column of tensor memory.

    Raises:
        TilecError: where that is not known.
    """
    type_ = memref_of(memref)
    buffer = buffer_of(type_)
    *leading, row, col = (split(index) for index in indices)
    constant, parts = 0, [base]
    stride = buffer.matrix_columns
    for index, extent in zip(reversed(leading), reversed(list(type_.shape)[:-2]), strict=True):
        constant += index.constant * stride
        if index.value is not None:
            parts.append(llvm.mul(_word(index.value), llvm.constant_i32(stride)))
        stride *= extent
    lanes, moved = _of_row(buffer, row)
    banks, first = _of_column(buffer, col)
    constant += lanes + banks
    parts += [*moved, *first]
    whole = reduce(llvm.add, parts)
    return llvm.add(whole, llvm.constant_i32(constant)) if constant else whole


def _of_row(buffer: TensorBuffer, row: Index) -> tuple[int, list[Value]]:
    """What a row adds to an address: a constant, and what is known at run time only."""
    step = _LANES
    if row.constant % step or (row.value is not None and row.multiple % step):
        raise TilecError(f"the row is not known to be a multiple of {step}")
    if row.value is None:
        place = buffer.layout.layout(row=row.constant)
        return (place[1] << LANE_BIT) + place[2], []
    rows = buffer.layout.layout.restrict(ins=("row",))
    _, lane, column = linear(rows, "row", row.emit())
    parts = [llvm.shl(_word(lane), llvm.constant_i32(LANE_BIT))]
    if any(image[2] for image in rows.bases["row"]):
        parts.append(_word(column))
    return 0, parts


def _of_column(buffer: TensorBuffer, col: Index) -> tuple[int, list[Value]]:
    """What a column adds to an address, likewise."""
    each, split_in_banks = buffer.packed, buffer.layout.width < buffer.layout.cols
    if col.constant % each or (col.value is not None and col.multiple % each):
        raise TilecError(f"the column is not known to be a multiple of {each}")
    bank, inside = divmod(col.constant // each, buffer.layout.width)
    if col.value is not None and split_in_banks:
        raise TilecError("the column is a constant where columns lie in several banks of lanes")
    if not split_in_banks:
        bank, inside = 0, col.constant // each
    constant = inside
    if bank:
        constant += buffer.layout.layout(bank=bank)[1] << LANE_BIT
    if col.value is None:
        return constant, []
    word = _word(col.value)
    shift = each.bit_length() - 1
    return constant, [llvm.lshr(word, llvm.constant_i32(shift)) if shift else word]


_LANES = 16
"""Rows between those that an address may name."""


def _word(index: Value) -> Value:
    return arith.index_castui(index, i32())
