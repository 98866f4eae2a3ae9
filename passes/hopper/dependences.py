"""Which ops of a block depend on values, and which others are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir


def dependents(ops: Iterable[ir.Operation], values: Iterable[Value]) -> list[ir.Operation]:
    """The ops among some that depend on values, in order."""
    found, known = list[ir.Operation](), set(values)
    for op in ops:
        if any(operand in known for operand in op.operands):
            found.append(op)
            known |= set(op.results)
    return found


def needed(ops: Sequence[ir.Operation], wanted: Sequence[ir.Operation]) -> set[ir.Operation]:
    """The ops among some that others are computed from."""
    found = set[ir.Operation]()
    values = [value for op in wanted for value in op.operands]
    while values:
        owner = values.pop().owner
        if isinstance(owner, ir.Block) or owner.operation in found or owner.operation not in ops:
            continue
        found.add(owner.operation)
        values += list(owner.operation.operands)
    return found
