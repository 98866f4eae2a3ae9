"""The dimensions x, y and z of grids and CTAs, as ops of `gpu` name them."""

from __future__ import annotations

from .aliases import Op
from .mlir import ir
from .ops.gpu import Dimension


def dimension_of(op: Op) -> int:
    """The number of the dimension that `gpu.thread_id`, `gpu.block_id` or its kin speaks of."""
    # Of this attribute the bindings know no more than whether two are the same.
    context = op.operation.context
    known = [ir.Attribute.parse(f"#gpu<dim {dimension}>", context) for dimension in Dimension]
    return known.index(op.attributes["dimension"])
