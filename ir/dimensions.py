"""The dimensions x, y and z of grids and CTAs, as ops of `gpu` name them."""

from __future__ import annotations

from .aliases import Op
from .mlir import ir

_NAMES = "xyz"


def dimension_attribute(number: int) -> ir.Attribute:
    """`#gpu<dim x>`, `y` or `z`, by number."""
    return ir.Attribute.parse(f"#gpu<dim {_NAMES[number]}>")


def dimension_of(op: Op) -> int:
    """The number of the dimension that `gpu.thread_id`, `gpu.block_id` or its kin speaks of."""
    # Of this attribute the bindings know no more than whether two are the same.
    known = map(dimension_attribute, range(len(_NAMES)))
    return list(known).index(op.attributes["dimension"])
