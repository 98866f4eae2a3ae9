"""Whether CTAs that are neighbours in the grid are a cluster: what passes that choose one share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import CTA_CLUSTER
from tilec.ir.mlir import ir, scf
from tilec.isa import Target, TilecError

from ..kernel_pass import Kernel, KernelPass
from .clusters import Cluster, given_cluster, why_no_cluster
from .parting import loops_of_products


@dataclass(frozen=True)
class ClusterChoice(KernelPass):
    """Decides once for a kernel, by its first loop with products of warpgroups.

    Attributes:
        enabled: false leaves kernels that do not say `tile.cluster`.
    """

    CHOSEN: ClassVar[str]
    """What a kernel has if the pass decides for it, as a remark calls it."""

    enabled: bool = True

    def run(self, kernel: Kernel) -> None:
        """Decide for a kernel."""
        pinned = CTA_CLUSTER in kernel.function.attributes
        given = given_cluster(kernel.function)
        if not (self.enabled or given) or (pinned and given is None):
            return
        target = kernel.target
        if not (kernel.is_entry and kernel.is_automatic and target):
            return
        for loop, tiles in loops_of_products(kernel):
            with kernel.at(loop):
                try:
                    if obstacle := why_no_cluster(kernel, target, tiles):
                        raise TilecError(obstacle)
                    self.decide(kernel, target, loop, given)
                except TilecError as why:
                    kernel.missed(kernel.function, f"has no {self.CHOSEN}: {why}")
                    self.forget(kernel)
            return
        self.forget(kernel)

    def decide(
        self, kernel: Kernel, target: Target, loop: scf.ForOp, given: Cluster | None
    ) -> None:
        """Let a cluster execute a loop: `given`, or the best.

        Raises:
            TilecError: if none does, saying why.
        """
        raise NotImplementedError

    def forget(self, kernel: Kernel) -> None:
        """Let a kernel no longer say which CTAs are to be a cluster."""
        if CTA_CLUSTER in kernel.function.attributes:
            del kernel.function.attributes[CTA_CLUSTER]


def choose_cluster(kernel: Kernel, cluster: Cluster) -> None:
    """Let a kernel say which CTAs are to be a cluster."""
    kernel.function.attributes[CTA_CLUSTER] = ir.DenseI64ArrayAttr.get(cluster.extents)
