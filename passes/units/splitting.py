"""Which rule takes an op on tiles of several units apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tilec.dialects.semantics import LayoutRule, layout_rule
from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops import (
    BroadcastOp,
    ConcatOp,
    InlineAsmOp,
    InlineAsmVolatileOp,
    IotaOp,
    ReduceOp,
    SliceOp,
    TransposeOp,
)
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..fragments.expansion import Expansion, Values
from ..kernel_pass import Kernel
from .unit_access import access_units
from .unit_ops import constant_unit, count_units, reduce_units, repeat_all, repeat_op, repeat_view
from .unit_products import dot_units, whole_product
from .unit_types import types_of_units


def split_kernel(kernel: Kernel) -> None:
    """Take all tiles of several units of a kernel apart.

    Raises:
        PassError: for ops that cannot be unpacked.
    """
    names = {op.operation.name for op in kernel.walk()}
    Expansion(types_of_units, dict.fromkeys(names, split_op)).run(kernel.function)


def _is_split(value: Value) -> bool:
    return types_of_units(value.type) is not None


def split_op(op: ir.OpView, expansion: Expansion) -> Sequence[Values] | None:
    """Replace an op on tiles of several units by ops on each.

    Returns:
        For each result what replaces it; None for an op that touches no such tile, and for those
        that hand tiles on.

    Raises:
        TilecError: for an op that cannot be unpacked.
    """
    if not any(map(_is_split, (*op.operation.operands, *op.results))):
        return None
    rule = layout_rule(op)
    if rule is LayoutRule.CARRIED:
        return None
    own = _own_rule(op)
    if own is not None:
        return own(op, expansion)
    if rule in _UNIT_BY_UNIT:
        return [repeat_op(op, expansion)]
    raise TilecError(f"takes no tile of several units, such as {_first(op)}")


_UNIT_BY_UNIT = (LayoutRule.JOINED, LayoutRule.FREE, LayoutRule.RELATED, LayoutRule.CONVERTED)
"""Rules of ops that do to each unit what they do to the tile."""


def _first(op: ir.OpView) -> Type:
    values: list[Value] = [*op.operation.operands, *op.results]
    return next(value.type for value in values if _is_split(value))


def _own_rule(
    op: ir.OpView,
) -> Callable[[ir.OpView, Expansion], Sequence[Values]] | None:
    """How an op is taken apart that does more than what it does to each unit."""
    if isinstance(op, MemoryOp):
        return access_units
    if isinstance(op, ConcatOp):
        return lambda op, expansion: [expansion.all(op.operation.operands)]
    if isinstance(op, SliceOp):
        return _unit_of
    if isinstance(op, AwaitedProduct):
        return whole_product
    if op.operation.name in DOTS:
        return dot_units
    return _RULES.get(op.operation.name)


def _unit_of(op: ir.OpView, expansion: Expansion) -> Sequence[Values]:
    assert isinstance(op, SliceOp)
    return [[expansion.values(op.whole)[op.index.value]]]


_RULES: dict[str, Callable[[ir.OpView, Expansion], Sequence[Values]]] = {
    **dict.fromkeys((InlineAsmOp.OPERATION_NAME, InlineAsmVolatileOp.OPERATION_NAME), repeat_all),
    "arith.constant": constant_unit,
    BroadcastOp.OPERATION_NAME: repeat_view,
    TransposeOp.OPERATION_NAME: repeat_view,
    IotaOp.OPERATION_NAME: count_units,
    ReduceOp.OPERATION_NAME: reduce_units,
}
