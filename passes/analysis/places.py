"""The order in which a kernel's ops stand."""

from __future__ import annotations

from tilec.dialects.semantics import is_loop
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir

Places = dict[ir.Operation, tuple[int, int]]
"""Of each op its number in program order, and the number of the last op inside it."""


def places_of(function: Op) -> Places:
    """The places of the ops of a kernel."""
    places: Places = {}
    _number(function.operation, places)
    return places


def _number(op: ir.Operation, places: Places) -> None:
    """Number the ops inside `op`."""
    for region in op.regions:
        for block in region:
            for inner in block:
                operation, number = inner.operation, len(places)
                places[operation] = number, number
                if len(operation.regions):
                    _number(operation, places)
                    places[operation] = number, len(places) - 1


def outermost_loop(op: Op) -> ir.Operation | None:
    """The outermost loop around an op, or None."""
    found = None
    parent = op.operation.parent
    while parent is not None and parent.operation.name != "gpu.func":
        if is_loop(parent):
            found = parent.operation
        parent = parent.operation.parent
    return found
