"""`gpu`: where a thread is, barriers, and what a kernel stands in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from ..aliases import Attribute, Value
from ..creation import create, emit
from ..mlir import ir
from ..types import index


class Dimension(StrEnum):
    """Dimensions of a grid and of its CTAs."""

    X = "x"
    Y = "y"
    Z = "z"


def _of_dimension(name: str, dimension: Dimension) -> ir.OpResult:
    which = ir.Attribute.parse(f"#gpu<dim {dimension}>")
    return create(name, (), index(), dimension=which)


def thread_id(dimension: Dimension) -> ir.OpResult:
    """The thread's number in its CTA, along one dimension."""
    return _of_dimension("gpu.thread_id", dimension)


def block_dim(dimension: Dimension) -> ir.OpResult:
    """The CTA's threads along one dimension."""
    return _of_dimension("gpu.block_dim", dimension)


def block_id(dimension: Dimension) -> ir.OpResult:
    """The CTA's number in the grid, along one dimension."""
    return _of_dimension("gpu.block_id", dimension)


def cluster_block_id(dimension: Dimension) -> ir.OpResult:
    """The CTA's number in its cluster, along one dimension."""
    return _of_dimension("gpu.cluster_block_id", dimension)


def grid_dim(dimension: Dimension) -> ir.OpResult:
    """The grid's CTAs along one dimension."""
    return _of_dimension("gpu.grid_dim", dimension)


def barrier() -> ir.Operation:
    """A barrier of the CTA."""
    return emit("gpu.barrier")


def printf(text: str, values: Sequence[Value]) -> ir.Operation:
    """Print values as C's printf does, each thread for itself."""
    return emit("gpu.printf", values, format=ir.StringAttr.get(text))


def return_() -> ir.Operation:
    """The end of a kernel."""
    return emit("gpu.return")


def module(name: str, attributes: Mapping[str, Attribute] | None = None) -> ir.Operation:
    """A module for a GPU, with an empty block."""
    named = {"sym_name": ir.StringAttr.get(name), **(attributes or {})}
    made = ir.Operation.create("gpu.module", attributes=named, regions=1)
    made.regions[0].blocks.append()
    return made


def func(attributes: Mapping[str, Attribute]) -> ir.Operation:
    """A function whose region has no block yet; the attributes have its name and type."""
    return ir.Operation.create("gpu.func", attributes=dict(attributes), regions=1)
