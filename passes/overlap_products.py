"""`tile-overlap-products`: the first product of a round goes on beside the second of the last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import OVERLAP, PRODUCER
from tilec.ir.mlir import ir, scf
from tilec.isa.wording import counted

from .analysis.costs import BESIDES
from .hopper.chained_products import ChainedProducts, chained_products, has_chain
from .hopper.rotated_loops import RotatedLoop
from .hopper.warp_roles import roles_of
from .kernel_pass import Kernel, KernelPass


@dataclass(frozen=True)
class OverlapProducts(KernelPass):
    """Overlap what is computed from a loop's first product with the second of the iteration before.

    In and out: level 2, kernels that are `tile.automatic` and whose warps have roles. In a loop
    with two `tile.warpgroup_dot`s, the second must take A from registers, computed from the
    result of the first, and accumulate into a value that the loop carries. Each iteration
    starts its own first product and the second product of the previous iteration, waits for the
    first, computes, and waits for the second: attention computes exponentials of scores while
    values are multiplied. The accumulator is rescaled afterwards. The first iteration is peeled
    before the loop, and the last second product after it. Other loops do not change, and a
    remark says why. Neither do loops where the registers of a thread cannot hold both
    accumulators, or where `tile.overlap` is false.

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
            f"accumulators and A of both take {counted(held, 'register')} per thread, "
            f"which has {registers}"
        )
    kernel.remark(
        loop,
        "begins the first product of a round beside the second of the round before, which goes on "
        f"while others compute: {counted(held, 'register')} of {registers} hold what both need",
    )
    RotatedLoop(loop, chain).run()
    return ""
