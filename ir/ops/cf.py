"""`cf`: branches between blocks."""

from __future__ import annotations

from ..aliases import Block
from ..mlir import ir


def br(successor: Block) -> ir.Operation:
    """A branch to a block that takes no arguments."""
    return ir.Operation.create("cf.br", successors=[successor])
