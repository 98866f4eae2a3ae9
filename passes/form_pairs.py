"""`tile-form-pairs`: two CTAs multiply one tile of twice the rows together, on sm_100a and kin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import IN_PAIRS
from tilec.ir.mlir import ir, scf
from tilec.isa import Target, TilecError

from .analysis.costs import CLUSTER_CTAS, Round, cost_of_round
from .blackwell.pairs import PairProduct, marked, pair_product
from .hopper.cluster_choice import ClusterChoice, choose_cluster
from .hopper.clusters import Cluster, pairs_along, same_copies
from .hopper.persistence import why_a_tile_each
from .kernel_pass import Kernel


@dataclass(frozen=True)
class FormPairs(ClusterChoice):
    """Choose products that two CTAs compute together (`cta_group::2`).

    In and out: level 2, kernels that are `tile.automatic`. Where neighbours along an axis of the
    grid multiply different rows of A by the same columns of B, two of them can compute one product
    of twice the rows: each keeps its rows of A and of the sums, and has half of B's columns in its
    shared memory. If the cost model says that an iteration waits for what it loads, or for shared
    memory, rather than for products, the kernel gets `tile.cluster`, unless the program sets it,
    and its `tile.tensor_dot` `tile.in_pairs`. tile-make-persistent assigns tiles to pairs, and a
    last tile without a neighbour to one, too; tile-specialize-warps halves B and creates the
    product of `cta_group::2`; tile-place-accumulators lets one thread issue for both. If these
    passes do not apply, each CTA multiplies for itself. A kernel with other products, or whose CTAs
    take one tile each, does not change, and a remark says why.

    Attributes:
        enabled: false leaves kernels that do not say `tile.cluster`.
    """

    name: ClassVar[str] = "tile-form-pairs"
    CHOSEN: ClassVar[str] = "pairs of CTAs"

    def decide(
        self, kernel: Kernel, target: Target, loop: scf.ForOp, given: Cluster | None
    ) -> None:
        """Let pairs compute the product of a loop.

        Raises:
            TilecError: if they do not, saying why.
        """
        if given is not None and given.size != CLUSTER_CTAS:
            raise TilecError(f"{given} are not two")
        pair = pair_product(loop)
        cluster = _neighbours(loop, pair, pairs_along(kernel) if given is None else [given])
        pair.dot.attributes[IN_PAIRS] = ir.UnitAttr.get()
        if why := why_a_tile_each(kernel, loop, 1):
            raise TilecError(why)
        alone, together = (_round(pair, target, ctas) for ctas in (1, CLUSTER_CTAS))
        if given is None and together.cycles >= alone.cycles:
            raise TilecError(
                f"a round takes {alone.cycles:.0f} cycles with and without, of products "
                f"{alone.products:.0f}"
            )
        choose_cluster(kernel, cluster)
        kernel.remark(
            kernel.function,
            f"is for pairs of {cluster}, which compute products of twice the rows together: "
            f"each CTA loads half of B, and a round takes {together.l2:.0f} cycles of L2, not "
            f"{alone.l2:.0f}, beside {alone.products:.0f} of products",
        )

    def forget(self, kernel: Kernel) -> None:
        """Let each CTA multiply for itself."""
        super().forget(kernel)
        for dot in marked(kernel):
            del dot.attributes[IN_PAIRS]


def _neighbours(loop: scf.ForOp, pair: PairProduct, clusters: list[Cluster]) -> Cluster:
    """The first of some clusters of two whose CTAs have different rows and the same columns.

    Raises:
        TilecError: if there is none.
    """
    for cluster in clusters:
        same = same_copies(loop, cluster.axis)
        if pair.copies["b"] in same and pair.copies["a"] not in same:
            return cluster
    raise TilecError("no neighbours in the grid multiply different rows by the same columns of B")


def _round(pair: PairProduct, target: Target, ctas: int) -> Round:
    """What a round takes a CTA, if so many load B together."""
    return cost_of_round([pair.product(ctas)], pair.loaded(ctas), target)
