"""`gpu`: where a thread is, and barriers."""

from __future__ import annotations

from enum import StrEnum

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


def grid_dim(dimension: Dimension) -> ir.OpResult:
    """The grid's CTAs along one dimension."""
    return _of_dimension("gpu.grid_dim", dimension)


def barrier() -> ir.Operation:
    """A barrier of the CTA."""
    return emit("gpu.barrier")


def return_() -> ir.Operation:
    """The end of a kernel."""
    return emit("gpu.return")
