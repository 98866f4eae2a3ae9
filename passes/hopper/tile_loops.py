"""A loop over tiles at the top of a kernel, as a kernel has it whose CTAs take several."""

from __future__ import annotations

from tilec.ir.aliases import Op
from tilec.ir.mlir import ir, scf


def loop_over_tiles(op: Op, function: Op) -> scf.ForOp | None:
    """The loop at the top of a kernel in whose body an op stands, if there is one.

    An `scf.if` of the body that gives nothing and has no other branch counts as the body: CTAs
    that have no tile leave out what it holds.

    Args:
        op: of the loop's body, or not.
        function: the kernel.
    """
    around = op.operation.parent
    if around is not None and _is_guard(around.operation):
        around = around.operation.parent
    view = None if around is None else around.operation.opview
    if not isinstance(view, scf.ForOp):
        return None
    return view if view.operation.block == function.regions[0].blocks[0] else None


def guard_at_top(op: Op, function: Op) -> ir.Operation | None:
    """The `scf.if` at the top of a kernel in which an op stands, if nothing else is done without.

    CTAs for which its condition does not hold have no work, as those behind the end of a sequence.

    Args:
        op: of its branch, or not.
        function: the kernel.
    """
    around = op.operation.parent
    if around is None or not _is_guard(around.operation):
        return None
    return around.operation if around.operation.block == function.regions[0].blocks[0] else None


def _is_guard(op: ir.Operation) -> bool:
    """Whether an op is an `scf.if` without results whose other branch, if any, is empty."""
    if not isinstance(op.opview, scf.IfOp) or len(op.results):
        return False
    return all(len(block.operations) == 1 for block in op.regions[1].blocks)
