"""`tile-order-proxies`: warpgroups read from shared memory what threads have written."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.semantics import Resource, control_flow, is_loop, orders
from tilec.dialects.tile.ops import AllocSharedOp, AsyncCopyOp, StoreOp
from tilec.dialects.tile.ops.warpgroup_dot import WarpgroupProduct
from tilec.ir.mlir import ir
from tilec.ir.ops import nvvm

from .kernel_pass import Kernel, KernelPass
from .search import defining_op


class OrderProxies(KernelPass):
    """Insert a fence of the asynchronous proxy before barriers after which warpgroups read.

    In and out: level 2. `wgmma` reads shared memory through the asynchronous proxy, and copies
    and stores write it through the generic proxy; barriers do not order the two (PTX ISA 8.6).
    Each thread executes `fence.proxy.async` between its writes, including those that it has
    waited for, and the barrier before the reads. Barriers without preceding writes do not
    change. Copies of some `warps` alone are fenced where they are waited for.
    """

    name: ClassVar[str] = "tile-order-proxies"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        dots = kernel.named(WarpgroupProduct)
        buffers = {alloc for dot in dots for alloc in _buffers(dot)}
        writers = {
            op.operation
            for op in (*kernel.named(AsyncCopyOp), *kernel.named(StoreOp))
            if any(alloc in buffers for alloc in _buffers(op))
            and not (isinstance(op, AsyncCopyOp) and op.warps)
        }
        if writers:
            _Fences(writers).region(kernel.function.regions[0], written=False)


def _buffers(op: ir.OpView) -> list[ir.Operation]:
    """The buffers that an op takes."""
    found = (defining_op(operand, AllocSharedOp) for operand in op.operands)
    return [alloc.operation for alloc in found if alloc is not None]


class _Fences:
    """The fences of one kernel.

    Args:
        writers: the ops that write what is read through the other proxy.
    """

    def __init__(self, writers: set[ir.Operation]) -> None:
        self._writers = writers

    def region(self, region: ir.Region, *, written: bool, looking: bool = False) -> bool:
        """Fence a region; whether something may be written after it that no fence orders.

        Args:
            region: the region.
            written: whether something may be before it.
            looking: whether fences are only thought of.
        """
        for block in region:
            for op in list(block.operations):
                written = self._op(op, written=written, looking=looking)
        return written

    def _op(self, op: ir.OpView, *, written: bool, looking: bool) -> bool:
        if op.operation in self._writers:
            return True
        if len(op.regions):
            maybe = control_flow(op) is None or is_loop(op)  # be it not at all, or many times
            before = written
            if maybe:  # what a round leaves is before the next one
                left = [self.region(one, written=written, looking=True) for one in op.regions]
                before = written or any(left)
            behind = [self.region(one, written=before, looking=looking) for one in op.regions]
            return any(behind) or (maybe and written)
        if written and orders(op, Resource.BARRIERS):
            if not looking:
                with ir.InsertionPoint(op), op.location:
                    nvvm.fence_proxy_async_shared()
            return False
        return written
