"""A loop over tiles at the top of a kernel, as a kernel has it whose CTAs take several."""

from __future__ import annotations

from tilec.ir.aliases import Op
from tilec.ir.mlir import scf


def loop_over_tiles(op: Op, function: Op) -> scf.ForOp | None:
    """The loop at the top of a kernel in whose body an op stands, if there is one.

    Args:
        op: of the loop's body, or not.
        function: the kernel.
    """
    around = op.operation.parent
    view = None if around is None else around.operation.opview
    if not isinstance(view, scf.ForOp):
        return None
    return view if view.operation.block == function.regions[0].blocks[0] else None
