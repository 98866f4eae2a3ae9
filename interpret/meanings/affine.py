"""`affine.apply` and its kin: indices by affine maps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np
from tilec.interpret.call import Call
from tilec.interpret.numbers import Array
from tilec.interpret.registry import meaning
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir


def _value(
    call: Call, expression: ir.AffineExpr, dims: Sequence[Array], rest: Sequence[Array]
) -> Array:
    """What an expression is, of dimensions and symbols."""
    if isinstance(expression, ir.AffineConstantExpr):
        return np.asarray(expression.value, np.int64)
    if isinstance(expression, ir.AffineDimExpr):
        return dims[expression.position]
    if isinstance(expression, ir.AffineSymbolExpr):
        return rest[expression.position]
    assert isinstance(expression, ir.AffineBinaryExpr)
    one, other = (_value(call, side, dims, rest) for side in (expression.lhs, expression.rhs))
    if isinstance(expression, ir.AffineAddExpr):
        return np.asarray(one + other)
    if isinstance(expression, ir.AffineMulExpr):
        return np.asarray(one * other)
    if (np.asarray(other) <= 0).any():
        call.report("unspecified", "divides by a number that is not positive")
        other = np.maximum(other, 1)
    if isinstance(expression, ir.AffineModExpr):
        return np.asarray(one % other)
    if isinstance(expression, ir.AffineFloorDivExpr):
        return np.asarray(one // other)
    return np.asarray(-(-one // other))


def _results(call: Call, operands: Sequence[Array]) -> list[Array]:
    """The results of an op's map."""
    map_ = call.fact("map", lambda: attribute(call.op, "map", ir.AffineMapAttr).value)
    dims, symbols = operands[: map_.n_dims], operands[map_.n_dims :]
    return [_value(call, one, dims, symbols) for one in map_.results]


@meaning("affine.apply")
def _apply(call: Call, *operands: Array) -> Array:
    (found,) = _results(call, operands)
    return found


@meaning("affine.min")
def _min(call: Call, *operands: Array) -> Array:
    return np.asarray(reduce(np.minimum, _results(call, operands)))


@meaning("affine.max")
def _max(call: Call, *operands: Array) -> Array:
    return np.asarray(reduce(np.maximum, _results(call, operands)))
