"""`cf`: what ends a kernel."""

from __future__ import annotations

from ..aliases import Value
from ..creation import emit
from ..mlir import ir


def assert_(condition: Value, message: str) -> ir.Operation:
    """Stop the program with a message where the condition does not hold."""
    return emit("cf.assert", [condition], msg=ir.StringAttr.get(message))
