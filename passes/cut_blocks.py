"""`tile-cut-blocks`: very long blocks as several, for what takes time of their length squared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.semantics import effects_of
from tilec.ir.aliases import Block, Op
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import cf
from tilec.ir.ops import scf as make_scf

from .kernel_pass import Kernel, KernelPass

_ONE_BLOCK: dict[type[ir.OpView], bool] = {
    scf.ExecuteRegionOp: False,
    scf.ForOp: True,
    scf.IfOp: True,
    scf.IndexSwitchOp: True,
    scf.WhileOp: True,
}
"""Whether a region may have one block only, of what may have thousands of ops inside and is lowered
to branches."""


@dataclass(frozen=True)
class CutBlocks(KernelPass):
    """Cut blocks of very many ops into shorter ones, each branching to the next.

    In and out: anything below tiles. `convert-scf-to-cf` moves everything after an `scf` op to
    a new block, for each such op of the block, and LLVM's vectorizer of loads and stores
    examines, for each access, those before it in the block. Both take time quadratic in the
    number of ops. Blocks of at most `longest` ops, as in kernels on tiles, do not change, and
    blocks that only compute are not split: LLVM would move their ops from block to block.

    If a region may have only one block, an `scf.execute_region` in it contains the new blocks.

    Attributes:
        longest: ops that a block may have, of any kind.
        piece: ops with regions or effects in each block that a longer one becomes.
    """

    name: ClassVar[str] = "tile-cut-blocks"
    longest: int = 4096
    piece: int = 256

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        found = [(block, False) for block in kernel.function.regions[0].blocks]
        for holder in kernel.named(*_ONE_BLOCK):
            inside = _ONE_BLOCK[type(holder)]
            found += [(block, inside) for region in holder.regions for block in region.blocks]
        for block, inside in found:
            if len(block.operations) > self.longest:
                self._cut(block, inside)

    def _cut(self, block: Block, inside: bool) -> None:
        """Cut a block, which may have no others beside it if it is `inside` an op."""
        if sum(1 for _ in self._pieces(block)) == 1:
            return
        if inside:
            block = _wrapped(block)
        _, *others = list(self._pieces(block))
        branches = []
        for ops in others:
            after = block.create_after()
            for op in ops:
                after.append(op.operation)
            branches.append((block, after, ops[0].location))
            block = after
        for before, after, location in branches:  # now that no piece ends otherwise
            with ir.InsertionPoint(before), location:
                cf.br(after)

    def _pieces(self, block: Block) -> Iterator[list[ir.OpView]]:
        """The ops of a block in pieces."""
        ops: list[ir.OpView] = []
        count = 0
        for op in block.operations:
            if count == self.piece:
                yield ops
                ops, count = [], 0
            ops.append(op)
            count += len(op.regions) > 0 or effects_of(op) != ()
        yield ops


def _wrapped(block: Block) -> Block:
    """The block of an `scf.execute_region` that now has all of a block but its end."""
    *ops, end = block.operations
    with ir.InsertionPoint(end), end.location:
        wrapper = make_scf.execute_region([value.type for value in end.operands])
        inner = wrapper.regions[0].blocks.append()
        for op in ops:
            inner.append(op.operation)
        with ir.InsertionPoint(inner):
            make_scf.yield_(list(end.operands))
    _replace_operands(end, wrapper)
    return inner


def _replace_operands(op: Op, source: ir.Operation) -> None:
    """Have an op take the results of another instead of its operands."""
    for number, result in enumerate(source.results):
        op.operation.operands[number] = result
