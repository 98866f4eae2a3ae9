"""`tile-split-roles`: what threads that compute do, apart from what those do that load."""

from __future__ import annotations

from math import prod
from typing import ClassVar

from tilec.dialects.semantics import Resource, Scope, orders, scope_of
from tilec.dialects.tile.attributes import PRODUCER, TURNS
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir, scf
from tilec.ir.ops import arith, gpu, nvvm
from tilec.ir.ops import scf as ops_scf
from tilec.ir.types import i32
from tilec.ir.visits import visit
from tilec.isa import TilecError

from .emit import index_constant
from .hopper.turns import turn_number, turns_of
from .hopper.warp_roles import roles_of
from .kernel_pass import Kernel, KernelPass
from .search import named

_BARRIER = 1
"""The number of the barrier of the threads that compute; 0 is that of all."""


class SplitRoles(KernelPass):
    """Leave what follows the work of threads that load to the other threads.

    In: registers, as tile-fragments-to-nvvm leaves them; the `scf.if` of tile-specialize-warps.
    Out: the same, with all code after it in its other region. Barriers there are for the
    threads that compute, with a separate barrier number, and these threads get more registers.
    With `tile.turns` there is another warpgroup that does the same, with a barrier of its own.
    `known_block_size` is the number of threads of the launch, for all roles together.
    """

    name: ClassVar[str] = "tile-split-roles"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        for op in named(kernel.function, [scf.IfOp]):
            if PRODUCER in op.attributes:
                _split(kernel, op)


def _split(kernel: Kernel, branch: ir.Operation) -> None:
    roles = roles_of(branch)
    size = kernel.block_size
    if size is None:
        raise TilecError(f"{PRODUCER} is for a kernel with known_block_size")
    del branch.attributes[PRODUCER]
    operations = [op.operation for op in branch.block.operations]
    behind = operations[operations.index(branch) + 1 : -1]
    while behind and scope_of(behind[-1]) is Scope.CLUSTER:
        behind.pop()  # to a barrier of the cluster threads of all roles come
    turns = turns_of(kernel.function)
    barrier_number: int | Value = _BARRIER
    block = branch.regions[1].blocks.append()
    with ir.InsertionPoint(block), branch.location:
        if roles.differ:
            nvvm.setmaxregister(roles.consumer, more=True)
        if turns > 1:
            number = turn_number(gpu.thread_id(gpu.Dimension.X))
            own = arith.addi(number, index_constant(_BARRIER))
            barrier_number = arith.index_cast(own, i32())
        end = ops_scf.yield_()
    for op in behind:
        op.move_before(end)
    for barrier in _barriers(behind):
        with ir.InsertionPoint(barrier), barrier.location:
            nvvm.named_barrier(barrier_number, prod(size))
        barrier.erase()
    attributes = kernel.function.attributes
    if TURNS in attributes:
        del attributes[TURNS]
    threads = roles.threads + (turns - 1) * prod(size)
    attributes["known_block_size"] = ir.DenseI32ArrayAttr.get([threads, 1, 1])


def _barriers(ops: list[ir.Operation]) -> list[ir.Operation]:
    """The barriers of a CTA among ops and in what they hold."""
    known: dict[str, bool] = {}
    found = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name not in known:
            known[op.name] = orders(op, Resource.BARRIERS)
        if known[op.name] and not len(op.operands) and not len(op.regions):
            found.append(op)
        return ir.WalkResult.ADVANCE

    for op in ops:
        visit(op, look)
    return found
