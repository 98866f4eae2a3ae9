"""`cf`: branches between blocks, and what ends a kernel."""

from __future__ import annotations

from ..aliases import Block, Value
from ..creation import emit
from ..mlir import ir


def br(successor: Block) -> ir.Operation:
    """A branch to a block that takes no arguments."""
    return ir.Operation.create("cf.br", successors=[successor])


def assert_(condition: Value, message: str) -> ir.Operation:
    """Stop the program with a message where the condition does not hold."""
    return emit("cf.assert", [condition], msg=ir.StringAttr.get(message))
