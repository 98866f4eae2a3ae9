"""The number of each row of a tile that is gathered or scattered, where each row has one."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import (
    BroadcastOp,
    ConvertLayoutOp,
    ExpandOp,
    FillOp,
)
from tilec.dialects.tile.ops.gather import IndexedOp
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import element_of, i1, i32, width_of

from ..emit import constant_of
from ..search import defining_op

NOWHERE = -1
"""A row that no array has."""


class RowNumbers(NamedTuple):
    """What says where the rows of a tile are.

    Attributes:
        numbers: a tile of i32, one a row.
        moved: a tile of i1, whether each row is moved; None if all are.
    """

    numbers: Value
    moved: Value | None

    def emit(self) -> Value:
        """One number a row, that of a row which is not moved being that of none."""
        if self.moved is None:
            return self.numbers
        type_ = ir.RankedTensorType(self.numbers.type)
        wanted = ir.RankedTensorType.get(list(type_.shape), i1(), type_.encoding)
        moved = self.moved
        if moved.type != wanted:
            moved = emit(ConvertLayoutOp, [moved], wanted)
        nowhere = emit(FillOp, [arith.integer(i32(), NOWHERE)], type_)
        return arith.select(moved, self.numbers, nowhere)


def row_numbers(op: IndexedOp) -> RowNumbers | str:
    """The numbers of the rows that an op moves; why there are none, in words.

    Coordinates of tensor copies have 32 bits, so numbers that may need more do not count.
    """
    if op.along != (0,):
        return "each element has a place of its own, or each column; TMA moves whole rows"
    if constant_of(op.indices[0]) != 0:
        return "its rows do not begin at index 0, so that their numbers may exceed 32 bits"
    numbers = _of_rows(op.offsets[0])
    if numbers is None:
        return "the elements of a row are not known to have one index"
    if _bits(numbers) > _COORDINATE:
        narrow = _widened(numbers)
        if narrow is None:
            return (
                f"its indices have {_bits(numbers)} bits, and coordinates of tensor copies "
                f"{_COORDINATE}: cast them to i32 if they fit"
            )
        numbers = narrow
    if op.mask is None:
        return RowNumbers(numbers, None)
    moved = _of_rows(op.mask)
    if moved is None:
        return "its mask is not known to be the same in all elements of a row"
    return RowNumbers(numbers, moved)


_COORDINATE = 32


def _bits(tile: Value) -> int:
    return width_of(element_of(tile.type))


def _widened(tile: Value) -> Value | None:
    """The numbers of 32 bits that a tile has as more, with their sign."""
    owner = tile.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.extsi":
        return None
    narrow: Value = owner.operands[0]
    return narrow if _bits(narrow) == _COORDINATE else None


def _of_rows(tile: Value) -> Value | None:
    """The vector of which each row of a matrix repeats one element, if that is how it is made."""
    repeated = defining_op(_converted(tile), BroadcastOp)
    if repeated is None or ir.RankedTensorType(repeated.source.type).shape[1] != 1:
        return None
    column = defining_op(_converted(repeated.source), ExpandOp)
    if column is None or column.axis.value != 1:
        return None
    return column.source


def _converted(tile: Value) -> Value:
    """What a tile was before it was given another layout."""
    while (op := defining_op(tile, ConvertLayoutOp)) is not None:
        tile = op.source
    return tile
