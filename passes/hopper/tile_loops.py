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


def _is_guard(op: ir.Operation) -> bool:
    """Whether an op is an `scf.if` of one branch without results."""
    return isinstance(op.opview, scf.IfOp) and not len(op.results) and not len(op.regions[1].blocks)
