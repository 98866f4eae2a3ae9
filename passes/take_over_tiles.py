"""`tile-take-over-tiles`: loops over tiles that go on while clusters were taken over."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.attributes import TAKES_OVER
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import scf as ops_scf

from .kernel_pass import Kernel, KernelPass
from .search import named


class TakeOverTiles(KernelPass):
    """Let the loops of tile-request-tiles go on as long as their requests succeed.

    In: registers, as tile-fragments-to-nvvm leaves them, with loops of one iteration that are
    marked `tile.takes_over`; the last value that such a loop carries is whether there is a next
    tile. Out: `scf.while` loops, which end when that is false. Either is right: the tile of a
    cluster that nobody takes over is computed by its own CTAs.
    """

    name: ClassVar[str] = "tile-take-over-tiles"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for op in named(kernel.function, [scf.ForOp]):
            if TAKES_OVER in op.attributes:
                _go_on(op)


def _go_on(loop: ir.Operation) -> None:
    lower, _, _, *start = loop.operands
    types = [value.type for value in start]
    with ir.InsertionPoint(loop), loop.location:
        made = ops_scf.while_(start, types)
        before = made.regions[0].blocks.append(*types)
        with ir.InsertionPoint(before):
            ops_scf.condition(before.arguments[len(types) - 1], list(before.arguments))
    block = loop.regions[0].blocks[0]
    block.arguments[0].replace_all_uses_with(lower)
    block.erase_argument(0)
    block.append_to(made.regions[1])
    for result, after in zip(loop.results, made.results, strict=True):
        result.replace_all_uses_with(after)
    loop.erase()
