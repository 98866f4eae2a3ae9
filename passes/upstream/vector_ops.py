"""Reductions and views of vectors, as those of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import BroadcastOp, ExpandOp, FillOp, ReduceOp, ReshapeOp, TransposeOp
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.ops import math

from ..emit import create
from .vector_types import tile, type_of


def _multi_reduction(op: ir.Operation) -> Value:
    source, total = op.operands
    axes = attribute(op, "reduction_dims", ir.DenseI64ArrayAttr)
    return _reduced(op, source, sorted(axes, reverse=True), total)


def _reduction(op: ir.Operation) -> Value:
    source, *total = op.operands
    return _reduced(op, source, [0], *total)


def _reduced(op: ir.Operation, value: Value, axes: list[int], total: Value | None = None) -> Value:
    """A tile reduced along some axes, the last first, and combined with `total`."""
    element = type_of(value).element_type
    # The bindings have no accessors of the kind.
    kind = str(op.attributes["kind"]).partition("<")[2].rstrip(">")
    suffix = "" if kind in _WHOLE else "i" if isinstance(element, ir.IntegerType) else "f"
    fn = f"arith.{kind}{suffix}"
    for axis in axes:
        shape = [*type_of(value).shape]
        del shape[axis]
        value = emit(
            ReduceOp,
            [value],
            tile(shape, element) if shape else element,
            axis=i64(axis),
            fn=ir.StringAttr.get(fn),
        )
    return value if total is None else create(fn, [value, total], value.type)


def _broadcast(op: ir.Operation) -> Value:
    (value,) = op.operands
    result = type_of(op.result)
    if not isinstance(value.type, ir.RankedTensorType):
        return emit(FillOp, [value], result)
    while (source := type_of(value)).rank < result.rank:
        shape = tile([1, *source.shape], result.element_type)
        value = emit(ExpandOp, [value], shape, axis=i64(0))
    return value if value.type == result else emit(BroadcastOp, [value], result)


def _transpose(op: ir.Operation) -> Value:
    order = attribute(op, "permutation", ir.DenseI64ArrayAttr)
    return emit(TransposeOp, list(op.operands), op.result.type, permutation=order)


def _shape_cast(op: ir.Operation) -> Value:
    return emit(ReshapeOp, list(op.operands), op.result.type)


def _fma(op: ir.Operation) -> Value:
    return math.fma(*op.operands)


_WHOLE = ("maximumf", "minimumf", "maxnumf", "minnumf", "maxsi", "maxui", "minsi", "minui")
"""Kinds of reductions that are called as the op of `arith`; those left lack `f` or `i`."""

REDUCTIONS_AND_VIEWS: Mapping[str, Callable[[ir.Operation], Value]] = MappingProxyType(
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
