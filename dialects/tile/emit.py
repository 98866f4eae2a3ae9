"""Emitting ops of the dialect where the insertion point stands, for passes: nothing is verified.

Who writes programs takes `tilec.dialects.tile.builders`, which infer types and verify.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tilec.ir.mlir import ir

from .ops.base import TileOp

_create = ir.Operation.create


def emit(
    op: type[TileOp], operands: Sequence[ir.Value], result: ir.Type, **attributes: ir.Attribute
) -> ir.Value:
    """An op with one result, at the location in force; its result."""
    return _create(op.OPERATION_NAME, [result], operands, attributes).result


def emit_all(
    op: type[TileOp],
    operands: Sequence[ir.Value],
    results: Sequence[ir.Type],
    attributes: Mapping[str, ir.Attribute],
) -> list[ir.Value]:
    """An op with any number of results; its results."""
    return list(_create(op.OPERATION_NAME, results, operands, attributes).results)


def emit_effect(
    op: type[TileOp],
    operands: Sequence[ir.Value] = (),
    location: ir.Location | None = None,
    **attributes: ir.Attribute,
) -> ir.Operation:
    """An op without results, at a location or at that in force."""
    return _create(op.OPERATION_NAME, [], operands, attributes, loc=location)


def i64(value: int) -> ir.IntegerAttr:
    """An integer attribute of 64 bits."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)
