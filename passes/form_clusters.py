"""`tile-form-clusters`: CTAs that are neighbours load for each other what both read, on sm_90a."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import MULTICAST
from tilec.dialects.tile.ops import AsyncCopyOp
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.dialects.tile.shared import shared_buffer
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.mlir import ir, scf
from tilec.ir.types import memref_of
from tilec.isa import Target, TilecError
from tilec.isa.wording import counted

from .analysis.costs import CLUSTER_CTAS, Product, Round, cost_of_round
from .hopper.cluster_choice import ClusterChoice, choose_cluster
from .hopper.clusters import Cluster, can_be_parted, pairs_along, same_copies
from .kernel_pass import Kernel


@dataclass(frozen=True)
class FormClusters(ClusterChoice):
    """Choose which CTAs are a cluster, and which copies they share.

    In and out: level 2, kernels that are `tile.automatic`. If a copy for the products of a loop
    does not depend on the CTA's index along an axis of the grid, neighbouring CTAs along that
    axis can each load a part of it and multicast the part to all of them. If the cost model
    says that an iteration waits for L2 rather than for products, two CTAs along the axis with
    more such bytes become a cluster: the kernel gets `tile.cluster`, unless the program sets
    it, and each such copy `tile.multicast`. tile-make-persistent assigns tiles to clusters, and
    tile-specialize-warps creates the copies; if these passes do not apply, the kernel has no
    cluster.

    Attributes:
        enabled: false leaves kernels that do not say `tile.cluster`.
    """

    name: ClassVar[str] = "tile-form-clusters"
    CHOSEN: ClassVar[str] = "clusters"

    def decide(
        self, kernel: Kernel, target: Target, loop: scf.ForOp, given: Cluster | None
    ) -> None:
        """Let CTAs of a cluster load for each other what the products of a loop read.

        Raises:
            TilecError: if they do not, saying why.
        """
        cluster = _best(kernel, loop) if given is None else given
        shared = [] if cluster is None else _shared(loop, cluster)
        if cluster is None or not shared:
            raise TilecError("its products do not read data that neighbours in the grid also read")
        if given is None and (why := _does_not_pay(loop, shared, target)):
            raise TilecError(why)
        choose_cluster(kernel, cluster)
        for copy in shared:
            copy.operation.attributes[MULTICAST] = ir.UnitAttr.get()
        _explain(kernel, loop, cluster, shared, target)


def _best(kernel: Kernel, loop: scf.ForOp) -> Cluster | None:
    """The pair with the most bytes to share, along an axis that counts; None without any."""
    pairs = pairs_along(kernel)
    best = max(pairs, key=lambda pair: _bytes(_shared(loop, pair)), default=None)
    return best if best and _shared(loop, best) else None


def _shared(loop: scf.ForOp, cluster: Cluster) -> list[AsyncCopyOp]:
    """The copies that CTAs of a cluster share."""
    same = same_copies(loop, cluster.axis)
    return [copy for copy in same if can_be_parted(copy.operands[1], cluster.size)]


def _bytes(copies: list[AsyncCopyOp]) -> int:
    return sum(shared_buffer(memref_of(copy.operands[1])).bytes for copy in copies)


def _round(loop: scf.ForOp, saved: float, target: Target) -> Round:
    """What a round takes if so many bytes need not come from L2."""
    ops = list(loop.regions[0].blocks[0].operations)
    copies = [op for op in ops if isinstance(op, AsyncCopyOp)]
    dots = [_product(op) for op in ops if isinstance(op, AwaitedProduct)]
    return cost_of_round(dots, _bytes(copies) - saved, target)


def _product(dot: AwaitedProduct) -> Product:
    m, n = ir.RankedTensorType(dot.d.type).shape
    bits = bits_of(memref_of(dot.b).element_type)
    form = dot.key
    held = "a" in dot.tiles()
    columns, of_stored = form.operand("d").cols, dot.COLUMNS_OF_STORED
    return Product(m, n, dot.depth(), bits, True, held, columns, of_stored)


def _does_not_pay(loop: scf.ForOp, shared: list[AsyncCopyOp], target: Target) -> str:
    """Why a cluster would not be faster; empty if it would."""
    now = _round(loop, 0, target)
    then = _round(loop, _bytes(shared) * (1 - 1 / CLUSTER_CTAS), target)
    if then.cycles < now.cycles:
        return ""
    return f"a round takes {now.cycles:.0f} cycles with and without, of L2 {now.l2:.0f}"


def _explain(
    kernel: Kernel, loop: scf.ForOp, cluster: Cluster, shared: list[AsyncCopyOp], target: Target
) -> None:
    saved = _bytes(shared) * (1 - 1 / cluster.size)
    now, then = _round(loop, 0, target), _round(loop, saved, target)
    kernel.remark(
        kernel.function,
        f"is for clusters of {cluster}: each CTA loads a part of "
        f"{counted(len(shared), 'copy', 'copies')} for all, and a round takes "
        f"{then.l2:.0f} cycles of L2, not {now.l2:.0f}, beside {now.products:.0f} of products",
    )
