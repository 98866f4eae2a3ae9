"""`memref`: extents, and elements."""

from __future__ import annotations

from collections.abc import Sequence

from ..aliases import Value
from ..creation import create, emit
from ..mlir import ir
from ..types import index as index_type
from ..types import memref_of


def dim(memref: Value, index: Value) -> ir.OpResult:
    """The extent of a dimension."""
    return create("memref.dim", [memref, index], index_type())


def load(memref: Value, indices: Sequence[Value]) -> ir.OpResult:
    """One element, by each thread for itself."""
    return create("memref.load", [memref, *indices], memref_of(memref).element_type)


def store(value: Value, memref: Value, indices: Sequence[Value]) -> None:
    """One element to memory, by each thread for itself."""
    emit("memref.store", [value, memref, *indices])
