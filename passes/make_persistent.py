"""`tile-make-persistent`: a CTA for each SM, which takes tile after tile."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from tilec.dialects.tile.attributes import (
    CLUSTER_TILES,
    CTA_CLUSTER,
    CTAS_PER_SM,
    GRID_EXTENTS,
    PERSISTENT,
    SCHEDULE,
)
from tilec.dialects.tile.emit import i64
from tilec.dialects.tile.ops.launch_control import ASKS
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir, scf
from tilec.isa import Target, TilecError
from tilec.isa.targets import H200_SMS

from .analysis.cta_accesses import Role, accesses_of
from .base import walk
from .hopper.clusters import Cluster, given_cluster
from .hopper.parting import loops_of_products
from .hopper.persistence import ops_at_top, why_a_tile_each
from .hopper.persistent_grid import own_tile, walk_tiles
from .hopper.turns import PAIR, takes_turns
from .kernel_pass import Kernel, KernelPass
from .rasterize import renumber
from .tile_order import TileOrder, best_order, take_order, told


class Schedule(StrEnum):
    """How CTAs get their tiles."""

    STATIC = "static"
    DYNAMIC = "dynamic"


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
    CTAs of a cluster process neighbouring tiles, and the kernel gets `known_cluster_size`. Where
    the target can, clusters take over tiles of those that have not started instead
    (`tile.cluster_tiles`), or CTAs without clusters, which leaves the grid as it is. A
    kernel does not change, and a remark says why, if tiles may take different numbers of
    iterations, if it fills other buffers in shared memory, or if `tile.persistent` is false.

    Attributes:
        enabled: false leaves all kernels that do not say `tile.persistent`.
        group: rows of tiles, or of clusters, that are gone down before a next column, 1 for row by
            row; 0 leaves it to the cost model. `tile.rasterize` of a kernel comes first.
        schedule: `dynamic` takes over tiles where the target can, `static` never does.
            `tile.schedule` of a kernel comes first.
    """

    name: ClassVar[str] = "tile-make-persistent"

    enabled: bool = True
    group: int = 0
    schedule: Schedule = Schedule.DYNAMIC

    def _schedule(self, kernel: Kernel) -> Schedule:
        """How the CTAs of a kernel get their tiles.

        Raises:
            TilecError: if it asks for what its target has not, or no such schedule is known.
        """
        given = given_attribute(kernel.function, SCHEDULE, ir.StringAttr)
        legal = ", ".join(f'"{one}"' for one in Schedule)
        if given is not None and given.value not in list(Schedule):
            raise TilecError(f'{SCHEDULE} = "{given.value}"; legal: {legal}')
        target = kernel.target
        can = target is not None and target.has_tensor_memory and _can_take_over(target)
        if given is not None and given.value == Schedule.DYNAMIC and not can:
            raise TilecError(
                f'{SCHEDULE} = "dynamic" needs {ASKS}, for products in tensor memory; '
                f"{target} does not have them"
            )
        wanted = self.schedule if given is None else Schedule(given.value)
        return wanted if can else Schedule.STATIC

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        asked = given_cluster(kernel.function)
        if not self._rewrite(kernel) and asked is not None:
            kernel.missed(
                kernel.function,
                f"has no clusters of {asked}: only CTAs that take several tiles load for others",
            )

    def _rewrite(self, kernel: Kernel) -> bool:
        """Let CTAs take several tiles, if they may; whether they do."""
        schedule = self._schedule(kernel)
        given = given_attribute(kernel.function, PERSISTENT, ir.BoolAttr)
        if given is not None:
            del kernel.function.attributes[PERSISTENT]
        cluster = given_cluster(kernel.function)
        for name in (CTA_CLUSTER, SCHEDULE):
            if name in kernel.function.attributes:
                del kernel.function.attributes[name]
        if not (self.enabled if given is None else given.value):
            return False
        is_done = any(name in kernel.function.attributes for name in GRID_EXTENTS)
        if is_done or not (kernel.is_entry and kernel.is_automatic and kernel.target):
            return is_done
        turns = PAIR if takes_turns(kernel.function) else 1
        for loop, tiles in loops_of_products(kernel):
            with kernel.at(loop):
                why = "it has a loop over tiles" if tiles else why_a_tile_each(kernel, loop, turns)
                if why:
                    kernel.missed(kernel.function, f"is launched with one CTA per tile: {why}")
                    return False
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
                if cluster is None and schedule is Schedule.DYNAMIC:
                    _take_over(kernel, loop, order)
                    kernel.remark(function, told(order, *tiles_at_once))
                    return True
                dynamic = schedule is Schedule.DYNAMIC
                walk_tiles(function, loop, order, cluster, takes_over=dynamic)
                if cluster is not None:
                    size = [cluster.size, 1, 1]
                    function.attributes["known_cluster_size"] = ir.DenseI32ArrayAttr.get(size)
                if cluster is not None and dynamic:
                    function.attributes[CLUSTER_TILES] = ir.DenseI64ArrayAttr.get(cluster.extents)
                    _explain_taking_over(kernel, "cluster")
                else:
                    function.attributes[CTAS_PER_SM] = i64(1)
                    kernel.remark(
                        function,
                        "is launched with one CTA per SM, each of which processes several tiles of "
                        "the grid in turn: boxes of the next arrive while one is stored",
                    )
                kernel.remark(function, told(order, *tiles_at_once))
                return True
        return False


def _can_take_over(target: Target) -> bool:
    """Whether a target has what asks for clusters that have not started."""
    from tilec.isa.instructions import instructions  # noqa: PLC0415 (for Blackwell only)

    return instructions()[ASKS].min_ptx(target) is not None


def _take_over(kernel: Kernel, loop: scf.ForOp, order: TileOrder) -> None:
    """Let CTAs compute their own tile, and then those of clusters that have not started."""
    if order.rows != 1 or order.is_curve:
        renumber(kernel, order)
    own_tile(kernel.function, loop)
    _explain_taking_over(kernel, "CTA")


def _explain_taking_over(kernel: Kernel, who: str) -> None:
    tiles = "tile" if who == "CTA" else "two tiles"
    kernel.remark(
        kernel.function,
        f"is launched with one {who} per {tiles}, and takes over tiles of {who}s that have not "
        "started (clusterlaunchcontrol): boxes of the next arrive while one is stored",
    )


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
    ops = ops_at_top(kernel)
    before = ops[: ops.index(loop.operation)]
    for op in [op.opview for op in before] + list(walk(loop)):
        if any(one.role is not Role.READ for one in accesses_of(op, kernel.target)):
            return f"'{op.operation.name}' writes before the end of its loop of products"
    return ""
