"""`tile-defer-waits`: a product stays in flight at the end of a round; the next waits for it."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.attributes import DEFER_WAIT
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir, scf

from .hopper.carried_products import CarriedProduct
from .hopper.deferred_waits import DeferredWait, deferred_wait
from .hopper.joined_products import join_products
from .kernel_pass import Kernel, KernelPass


class DeferWaits(KernelPass):
    """Let each iteration of a loop wait for the product of the iteration before it.

    In and out: level 3, kernels that are `tile.automatic`, as tile-to-fragments writes them. The
    pass obeys `tile.defer_wait` of a loop, by which tile-specialize-warps records its decision.
    The loop's body is one product that continues in an accumulator that the loop carries, its
    wait, and the release of the stage of a ring. The loop carries the accumulator in flight
    instead. An iteration starts its product, waits until only that one is in flight
    (`wgmma.wait_group 1`), and releases the stage of the previous iteration. The first iteration
    is peeled; the last wait and the last release come after the loop. The tensor cores have the
    next product before they finish one. Several products that each continue in an accumulator of
    their own, as those of a gate, become one group first, with one wait. A loop whose body is
    different does not change, and a remark says why.
    """

    name: ClassVar[str] = "tile-defer-waits"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if not kernel.is_automatic:
            return
        for loop in kernel.named(scf.ForOp):
            with kernel.at(loop):
                _defer(kernel, loop)


def _defer(kernel: Kernel, loop: scf.ForOp) -> None:
    """Rewrite a loop that wants it, or say why not."""
    wanted = given_attribute(loop, DEFER_WAIT, ir.BoolAttr)
    if wanted is None:
        return
    del loop.attributes[DEFER_WAIT]
    if wanted.value:
        join_products(loop)
    body = deferred_wait(loop) if wanted.value else None
    if isinstance(body, DeferredWait):
        CarriedProduct(loop, body).run()
    elif body is not None:
        kernel.missed(loop, f"waits for its product in each iteration: {body}")
