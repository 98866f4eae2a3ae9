"""`tile-overlap-products`: the first product of a round goes on beside the second of the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import OVERLAP, PRODUCER
from tilec.ir.mlir import ir, scf

from .hopper.chained_products import ChainedProducts, chained_products, has_chain
from .hopper.rotated_loops import RotatedLoop
from .hopper.warp_roles import roles_of
from .hopper.wgmma_choice import BESIDES
from .kernel_pass import Kernel, KernelPass


@dataclass(frozen=True)
class OverlapProducts(KernelPass):
    """Let what is computed of a round's first product be computed under the second of the last.

    In and out: level 2, kernels that are `tile.automatic`, and whose warps have roles. Of a loop
    with two `tile.warpgroup_dot`s, of which the second takes A from registers, computed of the
    first, and goes on in an accumulator that the loop carries, each round begins the first of its
    own and the second of the round before, waits for the first, computes, and waits for the second;
    an attention computes powers of scores while values are multiplied. What the loop adds to is
    rescaled then. The first round stands in front of the loop, the second product of the last
    behind it. A loop stays as it is, with a remark that says why, where it is another one, where
    the registers of a thread do not hold both accumulators, or where `tile.overlap` is false.

    Attributes:
        enabled: false leaves all loops that do not say `tile.overlap`.
    """

    name: ClassVar[str] = "tile-overlap-products"

    enabled: bool = True

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if not kernel.is_automatic:
            return
        roles = [op for op in kernel.named(scf.IfOp) if PRODUCER in op.attributes]
        for branch in roles[:1]:
            with kernel.at(branch):
                self._overlap_all(kernel, roles_of(branch).consumer)

    def _overlap_all(self, kernel: Kernel, registers: int) -> None:
        """Rewrite the loops of a kernel, whose threads that compute have so many registers."""
        for loop in kernel.named(scf.ForOp):
            if not has_chain(loop):
                continue
            wanted = loop.attributes.get(OVERLAP)
            if wanted is not None:
                del loop.attributes[OVERLAP]
            with kernel.at(loop):
                if not (wanted.value if isinstance(wanted, ir.BoolAttr) else self.enabled):
                    continue
                why = _overlap(kernel, loop, registers)
                if why:
                    kernel.missed(loop, f"does one product after the other: {why}")


def _overlap(kernel: Kernel, loop: scf.ForOp, registers: int) -> str:
    """Rewrite a loop; why not, if it stays."""
    chain = chained_products(loop)
    if not isinstance(chain, ChainedProducts):
        return chain
    held = chain.registers(kernel.threads)
    if held + BESIDES > registers:
        return (
            f"accumulators and A of both take {held} registers of a thread, which has {registers}"
        )
    kernel.remark(
        loop,
        "begins the first product of a round beside the second of the round before, which goes on "
        f"while others compute: {held} registers of {registers} hold what both need",
    )
    RotatedLoop(loop, chain).run()
    return ""
