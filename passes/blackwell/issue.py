"""The instructions of a product of tiles, which one thread issues to tensor memory."""

from __future__ import annotations

from itertools import product as cross

from tilec.dialects.tile.attributes import IN_PAIRS
from tilec.dialects.tile.emit import emit_effect
from tilec.dialects.tile.ops import (
    Tcgen05FenceOp,
    Tcgen05MmaOp,
    Tcgen05MmaScaledOp,
    TensorDotScaledOp,
)
from tilec.dialects.tile.ops.tensor_dot import TensorDot
from tilec.ir.aliases import Attribute, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import i1, memref_of

from ..emit import add, add_constant, index_constant
from .scale_factors import ScaleFactors


def fence(side: str) -> None:
    """Order tensor memory `before` or `after` what synchronises threads."""
    emit_effect(Tcgen05FenceOp, side=ir.StringAttr.get(side))


def issue(
    dot: TensorDot,
    accumulator: Value,
    adds: Value,
    factors: ScaleFactors | None = None,
    left: Value | None = None,
    which: Value | None = None,
) -> None:
    """All instructions of a product; the first along K of each matrix adds D if `adds`.

    Args:
        dot: the product.
        accumulator: its sums in tensor memory.
        adds: an i1.
        factors: its scale factors in tensor memory, if it has some.
        left: A in tensor memory, if that is a tile.
        which: of several accumulators the number of the one; None of one.
    """
    product = dot.key
    d, step = product.operand("d"), product.operand("b").rows
    rows, cols = ir.RankedTensorType(dot.d.type).shape
    each = dot.matrix_shape[0]
    attributes: dict[str, Attribute] = {
        name: dot.attributes[name] for name in dot.attributes if name not in ("warps", IN_PAIRS)
    }
    operands = {name: _Matrix(dot, name) for name in ("ab" if left is None else "b")}
    true, zero = arith.integer(i1(), 1), index_constant(0)
    if factors is not None:
        assert isinstance(dot, TensorDotScaledOp)
        factors.copy(dot)
    for k, m, n in cross(range(dot.depth() // step), range(rows // each), range(cols // d.cols)):
        if left is None:
            first = operands["a"].indices(m * each, k * step)
        else:
            first = [index_constant(m), zero, zero, index_constant(k * step)]
        at = [
            *first,
            *operands["b"].indices(n * d.cols, k * step),
            *([] if which is None else [which]),
            *(index_constant(m), index_constant(n), zero, zero),
        ]
        given = [dot.a if left is None else left, dot.b, accumulator, true if k else adds]
        if factors is None:
            emit_effect(Tcgen05MmaOp, [*given, *at], dot.location, **attributes)
        else:
            assert isinstance(dot, TensorDotScaledOp)
            at += [*factors.indices(dot, m, k), *factors.indices(dot, n, k)]
            given += [*factors.buffers, *at]
            emit_effect(Tcgen05MmaScaledOp, given, dot.location, **attributes)


class _Matrix:
    """An operand in shared memory, in panels.

    Args:
        dot: the product.
        name: `a` or `b`.
    """

    def __init__(self, dot: TensorDot, name: str) -> None:
        self._begin = dot.indices_of(name)
        self._transposed = dot.is_transposed(name)
        self._width = memref_of(dot.a if name == "a" else dot.b).shape[-1]
        self._packed = dot.packed(name)

    def indices(self, other: int, depth: int) -> list[Value]:
        """Where the part begins that is so far along M or N, and along K."""
        *leading, row, col = self._begin
        depth //= self._packed
        along, across = (other, depth) if self._transposed else (depth, other)
        panel, inside = divmod(along, self._width)
        if leading:
            leading[-1] = add_constant(leading[-1], panel)
        return [*leading, add_constant(row, across), add(col, index_constant(inside))]
