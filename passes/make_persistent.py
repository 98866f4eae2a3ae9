"""`tile-make-persistent`: a CTA for each SM, which takes tile after tile, on sm_90a."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import CTA_CLUSTER, CTAS_PER_SM, PERSISTENT
from tilec.dialects.tile.emit import i64
from tilec.dialects.tile.ops import AllocSharedOp
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import cluster_size, given_attribute
from tilec.ir.mlir import gpu, ir, scf
from tilec.isa import WARPGROUP_THREADS
from tilec.isa.targets import H200_SMS
from tilec.isa.wording import counted

from .analysis.cta_accesses import Role, accesses_of
from .analysis.effects import Writers
from .base import walk
from .hopper.clusters import Cluster, given_cluster
from .hopper.parting import loops_of_products, plan_parting
from .hopper.persistent_grid import walk_tiles
from .kernel_pass import Kernel, KernelPass
from .tile_order import TileOrder, best_order, take_order, told

_WARPGROUPS = 2
"""That compute, at least: of one alone an SM holds several CTAs, which need not wait for it."""


@dataclass(frozen=True)
class MakePersistent(KernelPass):
    """Launch as many CTAs as run at once, and let each take one tile of the grid after the other.

    In and out: level 2, kernels that are `tile.automatic`. In a kernel whose loop of products
    tile-specialize-warps will split, and whose CTAs each occupy an SM, all code that depends on
    the CTA's index moves into a loop over tiles, in steps of the number of CTAs. Boxes of the
    next tile then arrive while the results of one are stored. `gpu.block_id` becomes the
    position of the tile, which visits some rows of the grid at a time, column by column, or
    follows Hilbert curves, as the cost model or `tile.rasterize` says. `gpu.grid_dim` becomes one
    of three additional arguments, the extents of the grid that the launch gives.
    `tile.ctas_per_sm` is the number of CTAs per SM that are launched. With `tile.cluster`, the
    CTAs of a cluster process neighbouring tiles, and the kernel gets `known_cluster_size`. A
    kernel does not change, and a remark says why, if tiles may take different numbers of
    iterations, if it fills other buffers in shared memory, or if `tile.persistent` is false.

    Attributes:
        enabled: false leaves all kernels that do not say `tile.persistent`.
        group: rows of tiles, or of clusters, that are gone down before a next column, 1 for row by
            row; 0 leaves it to the cost model. `tile.rasterize` of a kernel comes first.
    """

    name: ClassVar[str] = "tile-make-persistent"

    enabled: bool = True
    group: int = 0

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        given = given_attribute(kernel.function, PERSISTENT, ir.BoolAttr)
        if given is not None:
            del kernel.function.attributes[PERSISTENT]
        cluster = given_cluster(kernel.function)
        if CTA_CLUSTER in kernel.function.attributes:
            del kernel.function.attributes[CTA_CLUSTER]
        if not (self.enabled if given is None else given.value):
            return
        is_done = CTAS_PER_SM in kernel.function.attributes
        if is_done or not (kernel.is_entry and kernel.is_automatic and kernel.target):
            return
        for loop, tiles in loops_of_products(kernel):
            with kernel.at(loop):
                why = "it has a loop over tiles" if tiles else _obstacle(kernel, loop)
                if why:
                    kernel.missed(kernel.function, f"is launched with one CTA per tile: {why}")
                    return
                function = kernel.function
                if cluster is not None and (why := _why_alone(kernel, loop)):
                    kernel.missed(function, f"has no clusters: {why}")
                    cluster = None
                tiles_at_once = _at_once(loop, cluster)
                order = take_order(function)
                if order is not None and cluster is not None:  # in rows of clusters
                    order = TileOrder(-(-order.rows // cluster.extents[1]))
                if order is None:
                    order = TileOrder(self.group) if self.group else best_order(*tiles_at_once)
                walk_tiles(function, loop, order, cluster)
                function.attributes[CTAS_PER_SM] = i64(1)
                if cluster is not None:
                    size = [cluster.size, 1, 1]
                    function.attributes["known_cluster_size"] = ir.DenseI32ArrayAttr.get(size)
                kernel.remark(
                    function,
                    "is launched with one CTA per SM, each of which processes several tiles of the "
                    "grid in turn: boxes of the next arrive while one is stored",
                )
                kernel.remark(function, told(order, *tiles_at_once))
            return


def _obstacle(kernel: Kernel, loop: scf.ForOp) -> str:
    """Why a kernel's CTAs take a tile each; empty if they may take several."""
    assert kernel.target is not None
    if cluster_size(kernel.function) is not None:
        return "it says which CTAs are a cluster"
    if kernel.threads // WARPGROUP_THREADS < _WARPGROUPS:
        return "an SM holds several CTAs, of which some multiply while others store"
    why = _mixed(kernel, loop)
    if why:
        return why
    plan = plan_parting(kernel, kernel.target, loop, None, beside_stores=True)
    if isinstance(plan, str):
        return f"its loop is not split into warps that load and warps that compute: {plan}"
    if plan.stages > plan.room:
        return (
            f"{counted(plan.stages, 'stage')} of {plan.bytes} bytes, as its loop requires, leave "
            f"no "
            "room for the stored tile"
        )
    writers, ops = Writers(kernel.function), _top(kernel)
    if any(writers.between(ops, copy.copy.operands[0]) is not None for copy in plan.copies):
        return (
            "it may write data that the next tile loads (mark arguments that do not overlap "
            "others llvm.noalias)"
        )
    return ""


def _at_once(loop: scf.ForOp, cluster: Cluster | None) -> tuple[int, int, int]:
    """Rows and columns of a tile, or of those of a cluster, and how many run at the same time."""
    ops = loop.regions[0].blocks[0].operations
    rows, cols = ir.RankedTensorType(
        next(op.d.type for op in ops if isinstance(op, AwaitedProduct))
    ).shape
    down, along = (1, 1) if cluster is None else (cluster.extents[1], cluster.extents[0])
    return rows * down, cols * along, H200_SMS // (down * along)


def _why_alone(kernel: Kernel, loop: scf.ForOp) -> str:
    """Why a CTA must not go through a loop for others, without a tile; empty if it may."""
    ops = _top(kernel)
    before = ops[: ops.index(loop.operation)]
    for op in [op.opview for op in before] + list(walk(loop)):
        if any(one.role is not Role.READ for one in accesses_of(op, kernel.target)):
            return f"'{op.operation.name}' writes before the end of its loop of products"
    return ""


def _mixed(kernel: Kernel, loop: scf.ForOp) -> str:
    """What of a kernel does not go together with several tiles; empty if nothing."""
    inner = next((op for op in _top(kernel) if len(op.regions) and op != loop.operation), None)
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


def _top(kernel: Kernel) -> list[ir.Operation]:
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
        if isinstance(owner.opview, gpu.BlockIdOp):
            return True
        seen.add(owner.operation)
        taken += list(owner.operation.operands)
    return False
