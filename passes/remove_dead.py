"""`tile-remove-dead`: drop tile ops whose results nobody uses."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.semantics import is_removable
from tilec.dialects.tile.ops.base import TileOp
from tilec.ir.mlir import ir

from .base import Pass, walk


class RemoveDead(Pass):
    """Erase tile ops whose results are unused and whose declared effects allow it, users first.

    In and out: any level. An op without declared effects may have any effect and is kept, as
    are ops without results. Upstream's clean-up does not remove matrix instructions, since it
    would also move them under divergent control flow.
    """

    name: ClassVar[str] = "tile-remove-dead"

    def apply(self, module: ir.Module) -> None:
        """Erase dead ops, users before what they use."""
        for op in reversed(list(walk(module.operation))):
            if isinstance(op, TileOp) and is_unused(op) and is_removable(op):
                op.operation.erase()


def is_unused(op: ir.OpView) -> bool:
    """Whether an op has results, and nobody uses any."""
    return len(op.results) > 0 and not any(True for r in op.results for _ in r.uses)
