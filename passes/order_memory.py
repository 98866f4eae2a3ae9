"""`tile-order-memory`: barriers between accesses to memory that depend on each other."""

from __future__ import annotations

from math import inf
from typing import ClassVar

from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import AsyncCommitOp, AsyncWaitOp
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.ir.ops import gpu

from .analysis.cta_accesses import CtaAccess, Role
from .analysis.memory_order import Hazard, MemoryOrder, UnorderedError
from .analysis.memory_steps import StepReader, accesses_in
from .analysis.written_arguments import record_written
from .base import Diagnostic
from .kernel_pass import Kernel, KernelPass


class OrderMemory(KernelPass):
    """Insert barriers between dependent accesses to memory by different threads.

    In and out: level 2. The memory is global, or an array in shared memory. The layout of a
    tile assigns its elements to threads of the CTA, so other threads may load or overwrite the
    elements that one op stores. If two ops may access the same element, and not certainly in
    the same thread, all threads wait for each other in between at a `gpu.barrier`, and for
    copies that still read. No barrier is needed between accesses

    - to arguments of which one is `llvm.noalias`, or to different arrays in shared memory,
    - to elements whose positions differ by constants, or by steps of a loop counter,
    - to the same position under layouts that assign each element to the same single thread,
    - that only read, or that update by one `tile.atomic` function, in no order.

    Existing barriers count. Accesses before a loop are ordered before the loop, and dependences
    between iterations in each iteration. Accesses by single threads, such as a `memref.store`
    at individual positions, are ordered with respect to those of tiles, but not to each other.
    A remark explains each barrier.

    If an argument is `llvm.noalias`, the kernel's attribute `tile.written` lists the arguments
    that it may write, for `tile-kernel-abi`.
    """

    name: ClassVar[str] = "tile-order-memory"

    def run(self, kernel: Kernel) -> None:
        """Order the accesses of a kernel."""
        steps = StepReader(kernel.function, kernel.target).read()
        accesses = accesses_in(steps)
        record_written(kernel.function, accesses)
        if not any(access.of_cta for access in accesses):
            return
        order = MemoryOrder(kernel.function)
        try:
            order.find(steps)
        except UnorderedError as error:
            _refuse(kernel, error.hazard, error.branch)
            return
        for place, hazard in order.barriers.items():
            _explain(kernel, hazard)
            _insert(hazard, place)


def _insert(hazard: Hazard, place: Op) -> None:
    """Let all threads, and the copies that still read, have done with the first accesses."""
    with ir.InsertionPoint(place), hazard.second.op.location:
        if hazard.age < 0:
            emit_effect(AsyncCommitOp)
        if hazard.age < inf:
            emit_effect(AsyncWaitOp, pending=i64(max(0, int(hazard.age))))
        gpu.barrier()


def _explain(kernel: Kernel, hazard: Hazard) -> None:
    (first, _), *others = hazard.first
    second = hazard.second
    above = hazard.before.operation
    where = "it" if above == second.op.operation else f"the '{above.name}' around it"
    more = f" and {len(others)} more" if others else ""
    kernel.analysis(
        second.op,
        f"{_depends(first, second)}{more}, so that a barrier stands before {where}; none is "
        f"needed between {_promise(first, second)}",
        notes=(Diagnostic(first.op.location, f"the '{first.op.operation.name}' is here", "note"),),
    )


_DONE = {Role.READ: "read", Role.WRITE: "written", Role.UPDATE: "updated"}


def _depends(first: CtaAccess, second: CtaAccess) -> str:
    return (
        f"{second.role.value} what other threads may not have {_DONE[first.role]} yet by "
        f"'{first.op.operation.name}'"
    )


def _promise(first: CtaAccess, second: CtaAccess) -> str:
    """What would make a barrier between two accesses needless."""
    if first.memref is None or second.memref is None:
        return "accesses that say what they touch"
    if first.memref != second.memref:
        return "arguments that share no memory, of which one is llvm.noalias"
    return "elements that lie apart, or accesses of one place under one layout"


def _refuse(kernel: Kernel, hazard: Hazard, branch: Op) -> None:
    (first, _), second = hazard.first[0], hazard.second
    kernel.error(
        second.op,
        f"{_depends(first, second)}, and no barrier can be placed between them in a "
        f"'{branch.operation.name}' that may send threads different ways; legal: conditions and "
        f"bounds that are the same in all threads, or {_promise(first, second)}",
        notes=(
            Diagnostic(branch.location, "the divergent control flow is here", "note"),
            Diagnostic(first.op.location, f"the '{first.op.operation.name}' is here", "note"),
        ),
    )
