"""`memref`: extents."""

from __future__ import annotations

from ..aliases import Value
from ..creation import create
from ..mlir import ir
from ..types import index as index_type


def dim(memref: Value, index: Value) -> ir.OpResult:
    """The extent of a dimension."""
    return create("memref.dim", [memref, index], index_type())
