"""How many neighbours in a row of a tile are alike: of indices and masks that vary slowly."""

from __future__ import annotations

import re

from tilec.dialects.semantics import LayoutRule, is_movable, layout_rule
from tilec.dialects.semantics.upstream import CONSTANTS
from tilec.dialects.tile.ops import BroadcastOp, ExpandOp, FillOp, IotaOp
from tilec.dialects.tile.ops.views import ViewOp
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops.arith import CmpI

from .multiples import ANY, UNKNOWN, multiple_of

_DEPTH = 16
"""Ops looked through."""
_COMPARISON = "arith.cmpi"
_WIDER = re.compile(r"arith\.ext[su]i")
_COUNTED_LEFT = (CmpI.SLT, CmpI.SGE, CmpI.ULT, CmpI.UGE)
_COUNTED_RIGHT = (CmpI.SGT, CmpI.SLE, CmpI.UGT, CmpI.ULE)
"""Predicates that change where the operand on that side, which counts up, reaches the other."""


def run_of(value: Value, depth: int = _DEPTH) -> int:
    """Elements in a row, from each multiple of the number on, that are known to be alike.

    Args:
        value: a tile without a layout.
        depth: how many ops to look back.
    """
    row = _row(value) & -_row(value)
    owner = value.owner
    if row == 1 or isinstance(owner, ir.Block) or depth == 0:
        return 1
    op = owner.opview
    if isinstance(op, BroadcastOp):
        return row if _row(op.source) == 1 else run_of(op.source, depth - 1)
    if isinstance(op, ExpandOp):
        return run_of(op.source, depth - 1)
    if isinstance(op, IotaOp):
        return 1 if op.axis.value == len(_shape(value)) - 1 else row
    if layout_rule(op) is LayoutRule.FREE:  # the same number everywhere
        return row
    if layout_rule(op) is not LayoutRule.JOINED or not is_movable(op):
        return 1
    operands = list(owner.operands)
    tiles = [o for o in operands if isinstance(o.type, ir.RankedTensorType)]
    runs = min((run_of(tile, depth - 1) for tile in tiles), default=1)
    return max(runs, min(row, _compared(op, depth))) if owner.name == _COMPARISON else runs


def _shape(value: Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _row(value: Value) -> int:
    return _shape(value)[-1]


def _compared(op: ir.OpView, depth: int) -> int:
    """How long what is counted up, compared with one number a row, gives one truth."""
    left, right = op.operation.operands
    predicate = attribute(op, "predicate", ir.IntegerAttr).value
    for counted, bound, legal in ((left, right, _COUNTED_LEFT), (right, left, _COUNTED_RIGHT)):
        if predicate in legal and isinstance(counted.type, ir.RankedTensorType):
            found = min(_start(counted, depth - 1), _divisor(bound, depth - 1))
            if found > 1:
                return found
    return 1


def _start(value: Value, depth: int) -> int:
    """What divides the first of each row's elements, each of which is one more; 1 of others."""
    owner = value.owner
    if isinstance(owner, ir.Block) or depth <= 0:
        return UNKNOWN
    op = owner.opview
    if isinstance(op, IotaOp):
        return ANY if op.axis.value == len(_shape(value)) - 1 else UNKNOWN
    if (source := _spread(op)) is not None:
        return _start(source, depth - 1) if _row(source) == _row(value) else UNKNOWN
    if _WIDER.fullmatch(owner.name):
        return _start(owner.operands[0], depth - 1)
    if owner.name == "arith.addi":
        left, right = owner.operands
        for counted, added in ((left, right), (right, left)):
            found = min(_start(counted, depth - 1), _divisor(added, depth - 1))
            if found > 1:
                return found
    return UNKNOWN


def _spread(op: ir.OpView) -> Value | None:
    """What an op repeats, or gives another dimension; None of other ops."""
    return op.source if isinstance(op, ViewOp) and op.SPREADS else None


def _divisor(value: Value, depth: int) -> int:
    """What divides the elements of a tile that are the same in each row; 1 of others."""
    owner = value.owner
    if isinstance(owner, ir.Block) or depth <= 0:
        return UNKNOWN
    op = owner.opview
    if isinstance(op, FillOp):
        return multiple_of(op.value)
    if owner.name in CONSTANTS:
        numbers = attribute(owner, "value", ir.DenseElementsAttr)
        if not numbers.is_splat:
            return UNKNOWN
        number = numbers.get_splat_value()
        assert isinstance(number, ir.IntegerAttr)
        return number.value & -number.value if number.value else ANY
    if (source := _spread(op)) is not None:
        return _divisor(source, depth - 1)
    return UNKNOWN
