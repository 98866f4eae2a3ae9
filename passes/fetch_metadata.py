"""`tile-fetch-metadata`: metadata of sparse products are loaded a round ahead, on sm_90a."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import LoadOp, WarpgroupDotSpOp
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith

from .analysis.effects import Writers, is_shared
from .analysis.index_forms import is_pure
from .emit import add
from .kernel_pass import Kernel, KernelPass
from .search import defining_op
from .staging.loop_stages import LoopStages, make_anew
from .staging.staging_groups import slice_of


class FetchMetadata(KernelPass):
    """Load the metadata of a loop's sparse products in the round before.

    In and out: level 2, kernels that are `tile.automatic`. Threads that multiply load the metadata
    of a `tile.warpgroup_dot_sp` from global memory to registers, and would wait for them in each
    round; factors arrive by TMA or `cp.async` rounds ahead. Where the indices of that load are
    computed from the loop's counter, the loop carries the tile instead: the first round's is loaded
    in front of it, and each round loads the next one's before it multiplies. The last round loads
    what its mask leaves of one more, or nothing where there is no mask. A load stays, with a remark
    that says why, where its indices depend on more, or the loop may write what it reads.
    """

    name: ClassVar[str] = "tile-fetch-metadata"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if not kernel.is_automatic:
            return
        for dot in kernel.named(WarpgroupDotSpOp):
            load, parent = defining_op(dot.e, LoadOp), dot.operation.parent
            loop = None if parent is None else parent.operation.opview
            if load is None or not isinstance(loop, scf.ForOp) or is_shared(load.memref):
                continue
            if load.operation.block != dot.operation.block:
                continue
            with kernel.at(load):
                ahead = _Ahead(loop, load)
                why = ahead.obstacle(Writers(kernel.function))
                if why:
                    kernel.missed(load, f"is waited for in each round: {why}")
                    continue
                kernel.remark(load, "is made a round ahead: the loop carries its tile")
                ahead.run()


class _Ahead(LoopStages):
    """The rewriting of one loop, which carries what a load of its body takes in the next round."""

    def __init__(self, loop: scf.ForOp, load: LoadOp) -> None:
        super().__init__(loop, [], 2)
        self._load = load
        ops = [op.operation for op in self.block.operations]
        self._needs = sorted(slice_of(load, self.block), key=ops.index)

    def obstacle(self, writers: Writers) -> str:
        """Why the load stays; empty if it need not."""
        writer = writers.between(list(self.block.operations), self._load.memref)
        if writer is not None:
            return (
                f"'{writer.operation.name}' in the loop may write what it reads, or orders it (an "
                "argument that shares no memory with others is llvm.noalias)"
            )
        carried = list(self.block.arguments)[1:]
        taken = (operand for op in (self._load, *self._needs) for operand in op.operation.operands)
        if not all(map(is_pure, self._needs)) or any(operand in carried for operand in taken):
            return "its indices depend on more than the loop's counter"
        return ""

    def run(self) -> None:
        """Rewrite the loop."""
        load = self._load
        with ir.InsertionPoint(self.loop), load.location:
            first = self._loaded(self.lower)
        (held,) = self.carry([first])
        with ir.InsertionPoint(load), load.location:
            following = self._loaded(add(self.counter, self.step))
        load.results[0].replace_all_uses_with(held)
        load.operation.erase()
        for op in reversed(self._needs):
            if all(next(iter(result.uses), None) is None for result in op.results):
                op.erase()
        self.pass_on(lambda: [following])

    def _loaded(self, counter: Value) -> Value:
        """The tile of the round with a counter; without a mask zeros where there is none."""
        there = None if "masked" in self._load.attributes else self.there(counter)
        if there is None:
            return self._made(counter)
        type_ = ir.RankedTensorType(self._load.tile.type)
        branch = scf.IfOp(there, [type_], has_else=True)
        assert branch.else_block is not None
        with ir.InsertionPoint(branch.then_block):
            scf.YieldOp([self._made(counter)])
        with ir.InsertionPoint(branch.else_block):
            scf.YieldOp([arith.splat(type_, ir.IntegerAttr.get(type_.element_type, 0))])
        return branch.results[0]

    def _made(self, counter: Value) -> Value:
        """The load of the round with a counter."""
        known: dict[Value, Value] = {self.counter: counter}
        make_anew(self._needs, known)
        operands = [known.get(operand, operand) for operand in self._load.operation.operands]
        attributes = {name: self._load.attributes[name] for name in self._load.attributes}
        return emit(LoadOp, operands, self._load.tile.type, **attributes)
