"""The order in which a kernel's ops stand."""

from __future__ import annotations

from typing import Any

from tilec.dialects.semantics import is_loop

Places = dict[Any, tuple[int, int]]
"""Of each op its number in program order, and the number of the last op inside it."""


def places_of(function: Any) -> Places:
    """The places of the ops of a kernel."""
    places: Places = {}

    def visit(op: Any) -> None:
        for region in op.regions:
            for block in region:
                for inner in block:
                    operation, number = inner.operation, len(places)
                    places[operation] = number, number
                    if len(operation.regions):
                        visit(operation)
                        places[operation] = number, len(places) - 1

    visit(function.operation)
    return places


def outermost_loop(op: Any) -> Any:
    """The outermost loop around an op, or None."""
    found = None
    parent = op.operation.parent
    while parent is not None and parent.operation.name != "gpu.func":
        if is_loop(parent):
            found = parent.operation
        parent = parent.operation.parent
    return found
