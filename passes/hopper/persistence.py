"""Whether the CTAs of a kernel may take one tile of the grid after the other."""

from __future__ import annotations

from tilec.dialects.semantics import Place, place_of
from tilec.dialects.tile.ops import AllocSharedOp
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import cluster_size
from tilec.ir.mlir import ir, scf
from tilec.isa import WARPGROUP_THREADS
from tilec.isa.wording import counted

from ..analysis.effects import Writers
from ..kernel_pass import Kernel
from .dependent_launch import dependences
from .parting import least_warpgroups, plan_parting


def why_a_tile_each(kernel: Kernel, loop: scf.ForOp, turns: int) -> str:
    """Why a kernel's CTAs take a tile each; empty if they may take several.

    Args:
        kernel: the kernel, for a target.
        loop: with products of warpgroups, at the top.
        turns: warpgroups that are to take the tiles in turn; 1 where all share each.
    """
    assert kernel.target is not None
    if cluster_size(kernel.function) is not None:
        return "it says which CTAs are a cluster"
    if kernel.threads // WARPGROUP_THREADS * turns < least_warpgroups(kernel):
        return "an SM holds several CTAs, of which some multiply while others store"
    why = _mixed(kernel, loop)
    if why:
        return why
    plan = plan_parting(kernel, kernel.target, loop, None, beside_stores=True, turns=turns)
    if isinstance(plan, str):
        return f"its loop is not split into warps that load and warps that compute: {plan}"
    if plan.stages > plan.room:
        return (
            f"{counted(plan.stages, 'stage')} of {plan.bytes} bytes, as its loop requires, leave "
            "no room for the stored tile"
        )
    writers, ops, apart = Writers(kernel.function), ops_at_top(kernel), dependences(kernel)
    sources = [copy.copy.operands[0] for copy in plan.copies]
    if any(writers.between(ops, source, but=apart) is not None for source in sources):
        return (
            "it may write data that the next tile loads (mark arguments that do not overlap "
            "others llvm.noalias)"
        )
    return ""


def _mixed(kernel: Kernel, loop: scf.ForOp) -> str:
    """What of a kernel does not go together with several tiles; empty if nothing."""
    inner = next(
        (op for op in ops_at_top(kernel) if len(op.regions) and op != loop.operation), None
    )
    if inner is not None:
        return f"'{inner.name}' is next to its loop of products"
    body = loop.regions[0].blocks[0]
    buffers = (alloc.result for alloc in kernel.named(AllocSharedOp))
    if any(use.owner.operation.block != body for buffer in buffers for use in buffer.uses):
        return "it fills buffers in shared memory which the tile before may still read"
    if any(map(_follows_from_place, list(loop.operands)[:3])):
        return (
            "the number of iterations may differ between tiles, and SMs that finish early "
            "would wait"
        )
    return ""


def ops_at_top(kernel: Kernel) -> list[ir.Operation]:
    """The ops at the top of a kernel."""
    return [op.operation for op in kernel.function.regions[0].blocks[0].operations]


def _follows_from_place(value: Value) -> bool:
    """Whether a value is computed from a CTA's place in the grid."""
    seen: set[Op] = set()
    taken = [value]
    while taken:
        owner = taken.pop().owner
        if isinstance(owner, ir.Block) or owner.operation in seen:
            continue
        if place_of(owner) in (Place.BLOCK, Place.CLUSTER):
            return True
        seen.add(owner.operation)
        taken += list(owner.operation.operands)
    return False
