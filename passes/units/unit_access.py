"""Loads, stores, gathers and atomics of tiles of several units: an access of each."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import i64
from tilec.dialects.tile.ops.memory import MemoryOp, vector_of
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout.extents import unit_extents, unit_places

from ..emit import add_constant, constant_of, index_constant
from ..fragments.expansion import Expansion, Values
from .unit_types import attributes_of, created, types_of_units, unit_type

_BYTE = 8


def access_units(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    """An access as one for each unit, at the place where that begins.

    Raises:
        TilecError: if a unit of sub-byte elements is not a whole number of bytes, or one in
            shared memory lies in no matrix of the buffer.
    """
    assert isinstance(op, MemoryOp)
    first = op.DECLARED.operands
    rank = memref_of(op.memref).rank
    operands = list(op.operation.operands)
    attributes = _attributes(op)
    found: list[Values] = [[] for _ in op.results]
    for number, place in enumerate(_places(op)):
        own = [
            expansion.values(operand)[number] if types_of_units(operand.type) else operand
            for operand in operands
        ]
        own[first : first + rank] = _moved(op, operands[first : first + rank], place)
        type_ = unit_type(op.results[0].type) if found else None
        for values, result in zip(found, created(op, own, type_, attributes), strict=True):
            values.append(result)
    return found


def _attributes(op: MemoryOp) -> dict[str, Attribute]:
    """Those of the accesses, which are no wider than a unit is along a row of memory."""
    attributes = attributes_of(op)
    tile = ir.RankedTensorType(op.tile.type)
    *_, row, col = (1, *unit_extents(tile.shape))
    bits = min(_BYTE, bits_of(tile.element_type))
    along = max(1, (row if op.is_transposed else col) * bits // _BYTE)
    if vector_of(op) > along:
        attributes["vector"] = i64(along)
    return attributes


def _places(op: MemoryOp) -> list[tuple[int, ...]]:
    """Where in memory each unit begins: elements, or bytes, from the indices, by dimension."""
    tile = ir.RankedTensorType(op.tile.type)
    bits = min(bits_of(tile.element_type), _BYTE)
    found = []
    for place in unit_places(tile.shape):
        moved = (*place[:-2], place[-1], place[-2]) if op.is_transposed else place
        last = moved[-1] * bits
        if last % _BYTE:
            raise TilecError(
                f"has units of {counted(unit_extents(tile.shape)[-1], 'element')} of "
                f"{tile.element_type}, "
                "which share bytes of memory; legal: units of whole bytes"
            )
        found.append((*moved[:-1], last // _BYTE))
    return found


def _moved(op: MemoryOp, indices: Values, place: tuple[int, ...]) -> Values:
    """The indices of a unit."""
    first = len(indices) - len(place)
    moved = list(indices)
    for dim, further in enumerate(place, first):
        if dim not in op.along:
            moved[dim] = add_constant(moved[dim], further)
    type_ = memref_of(op.memref)
    if isinstance(type_.memory_space, SharedAttr) and place[-1] and type_.rank > len(place):
        moved = _in_matrix(indices, moved, place[-1], type_.shape[-1])
    return moved


def _in_matrix(indices: Values, moved: Values, further: int, width: int) -> Values:
    """The indices of a unit of what is wider than a matrix of a buffer, in the one it lies in."""
    begin = _constant(indices[-1], further, width)
    if begin is None:
        return moved
    *leading, row, _ = moved
    leading[-1] = add_constant(leading[-1], begin // width)
    return [*leading, row, index_constant(begin % width)]


def _constant(col: Value, further: int, width: int) -> int | None:
    """The column of a unit, if that is known; None if it lies in the first matrix anyway."""
    found = constant_of(col)
    if found is None and further >= width:
        raise TilecError(
            "continues in the next matrix of the buffer: its column must be a constant"
        )
    return None if found is None else found + further
