"""Reductions and views of vectors, as those of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import BroadcastOp, ExpandOp, FillOp, ReduceOp, ReshapeOp, TransposeOp
from tilec.ir.mlir import ir

from ..emit import create
from .vector_types import tile


def _multi_reduction(op: Any) -> Any:
    source, total = op.operands
    return _reduced(op, source, sorted(op.attributes["reduction_dims"], reverse=True), total)


def _reduction(op: Any) -> Any:
    source, *total = op.operands
    return _reduced(op, source, [0], *total)


def _reduced(op: Any, value: Any, axes: list[int], total: Any = None) -> Any:
    """A tile reduced along some axes, the last first, and combined with `total`."""
    element = value.type.element_type
    kind = str(op.attributes["kind"]).partition("<")[2].rstrip(">")
    suffix = "" if kind in _WHOLE else "i" if isinstance(element, ir.IntegerType) else "f"
    fn = f"arith.{kind}{suffix}"
    for axis in axes:
        shape = [*value.type.shape]
        del shape[axis]
        value = emit(
            ReduceOp,
            [value],
            tile(shape, element) if shape else element,
            axis=_i64(axis),
            fn=ir.StringAttr.get(fn),
        )
    return value if total is None else create(fn, [value, total], value.type)


def _broadcast(op: Any) -> Any:
    (value,) = op.operands
    result = op.results[0].type
    if not isinstance(value.type, ir.RankedTensorType):
        return emit(FillOp, [value], result)
    while value.type.rank < result.rank:
        shape = tile([1, *value.type.shape], result.element_type)
        value = emit(ExpandOp, [value], shape, axis=_i64(0))
    return value if value.type == result else emit(BroadcastOp, [value], result)


def _transpose(op: Any) -> Any:
    order = ir.DenseI64ArrayAttr.get(list(op.attributes["permutation"]))
    return emit(TransposeOp, list(op.operands), op.results[0].type, permutation=order)


def _shape_cast(op: Any) -> Any:
    return emit(ReshapeOp, list(op.operands), op.results[0].type)


def _fma(op: Any) -> Any:
    return create("math.fma", list(op.operands), op.results[0].type)


def _i64(value: int) -> Any:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


_WHOLE = ("maximumf", "minimumf", "maxnumf", "minnumf", "maxsi", "maxui", "minsi", "minui")
"""Kinds of reductions that are called as the op of `arith`; those left lack `f` or `i`."""

REDUCTIONS_AND_VIEWS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "vector.broadcast": _broadcast,
        "vector.fma": _fma,
        "vector.multi_reduction": _multi_reduction,
        "vector.reduction": _reduction,
        "vector.shape_cast": _shape_cast,
        "vector.transpose": _transpose,
    }
)
"""What emits an op anew, its operands being tiles, and gives the result."""
