"""`tile-choose-pingpong`: whether two warpgroups take tiles in turn or share each, on sm_90a."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import PERSISTENT, PINGPONG
from tilec.ir.attributes import given_attribute
from tilec.ir.mlir import ir, scf
from tilec.isa import WARPGROUP_THREADS
from tilec.isa.wording import counted

from .hopper.chained_products import has_chain
from .hopper.parting import loops_of_products, plan_parting
from .hopper.persistence import why_a_tile_each
from .hopper.turns import PAIR
from .kernel_pass import Kernel, KernelPass


@dataclass(frozen=True)
class ChoosePingpong(KernelPass):
    """Decide that two warpgroups of a CTA each compute whole tiles, in turn.

    In and out: level 2, kernels that are `tile.automatic`, whose `tile.pingpong` says that they
    want it. If the 128 threads of a kernel compute a tile, two warpgroups can take the tiles of a
    CTA in turn: one multiplies while the other stores. `tile.pingpong = true` stays on such a
    kernel; tile-make-persistent gives it a loop over tiles, and tile-specialize-warps a
    warpgroup that loads and the order in which the others take tiles. It is removed, and a
    remark says why, if threads of several warpgroups share a tile, if a CTA takes one tile, if
    tiles take different numbers of iterations, or if one product of the loop is computed from
    another: then both warpgroups would wait for what is computed in between. A kernel whose
    warpgroups share a tile, "cooperative", does not change.

    Attributes:
        enabled: true is for all kernels that do not say `tile.pingpong` and have 128 threads. The
            cost model does not decide: it counts neither the time that a tile takes to be stored,
            nor several CTAs on an SM, which is what such kernels otherwise become.
    """

    name: ClassVar[str] = "tile-choose-pingpong"

    enabled: bool = False

    def run(self, kernel: Kernel) -> None:
        """Decide for a kernel."""
        function = kernel.function
        given = given_attribute(function, PINGPONG, ir.BoolAttr)
        if given is not None:
            del function.attributes[PINGPONG]
        wanted = self.enabled if given is None else given.value
        if not (wanted and kernel.is_entry and kernel.is_automatic and kernel.target):
            return
        if given is None and kernel.threads != WARPGROUP_THREADS:
            return
        loop, tiles = next(loops_of_products(kernel), (None, None))
        why = "it has no loop with products of warpgroups"
        if loop is not None:
            with kernel.at(loop):
                why = _obstacle(kernel, loop, tiles)
        if why:
            kernel.missed(function, f"has no warpgroups that take tiles in turn: {why}")
            return
        function.attributes[PINGPONG] = ir.BoolAttr.get(True)
        kernel.remark(
            function,
            f"lets {PAIR} warpgroups take tiles in turn, each of which multiplies while the other "
            "stores",
        )


def _obstacle(kernel: Kernel, loop: scf.ForOp, tiles: scf.ForOp | None) -> str:
    """Why warpgroups do not take tiles in turn; empty if they may."""
    assert kernel.target is not None
    if kernel.threads != WARPGROUP_THREADS:
        groups = counted(kernel.threads // WARPGROUP_THREADS, "warpgroup")
        return (
            f"{groups} share each tile (known_block_size = array<i32: {WARPGROUP_THREADS}, 1, 1> "
            "lets one compute it)"
        )
    if has_chain(loop):
        return (
            "one product of its loop is computed from another, and while that is computed neither "
            "warpgroup would multiply"
        )
    if tiles is None:
        persistent = given_attribute(kernel.function, PERSISTENT, ir.BoolAttr)
        if persistent is not None and not persistent.value:
            return "a CTA takes one tile, as tile.persistent = false says"
        return why_a_tile_each(kernel, loop, PAIR)
    plan = plan_parting(kernel, kernel.target, loop, tiles, turns=PAIR)
    return plan if isinstance(plan, str) else ""
