"""Atomic operations of a kernel whose old values nobody asks for."""

from __future__ import annotations

from typing import Any

from tilec.ir import mlir


def drop_old_values(function: Any) -> None:
    """Update memory without asking what it held where the kernel does not use that.

    Args:
        function: a kernel that has been built.
    """
    from tilec.dialects.tile.ops import AtomicRmwOp, ReduceOp  # noqa: PLC0415 (import MLIR)
    from tilec.passes.search import ops_of  # noqa: PLC0415

    for op in ops_of(function, AtomicRmwOp):
        for use in list(op.old.uses):
            owner = use.owner
            if isinstance(owner.opview, ReduceOp) and not _is_used(owner.results[0]):
                owner.operation.erase()
        if not _is_used(op.old):
            _drop(op)


def _is_used(value: Any) -> bool:
    return next(iter(value.uses), None) is not None


def _drop(op: Any) -> None:
    """Replace an operation by one without a result, if there is one."""
    from tilec.dialects.tile.ops import ATOMICS, AtomicOp, AtomicScatterOp  # noqa: PLC0415

    attributes = {name: op.attributes[name] for name in op.attributes}
    if op.fn.value not in ATOMICS or "order" in attributes or "scope" in attributes:
        return
    kind = AtomicScatterOp if op.by_element else AtomicOp
    if kind is AtomicOp:
        del attributes["operandSegmentSizes"]
    mlir.ir.Operation.create(
        kind.OPERATION_NAME,
        operands=list(op.operation.operands),
        attributes=attributes,
        loc=op.location,
        ip=mlir.ir.InsertionPoint(op),
    )
    op.operation.erase()
