"""`tile-specialize-warps`: further warps load by TMA what the others multiply."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from tilec.dialects.tile.attributes import DEFER_WAIT, IN_PAIRS, PINGPONG, STAGES, TURNS
from tilec.dialects.tile.emit import i64
from tilec.dialects.tile.ops import AsyncCopyOp
from tilec.ir.attributes import cluster_size
from tilec.ir.mlir import ir, scf
from tilec.isa import LANES, WARPGROUP_THREADS, TilecError
from tilec.isa.wording import counted

from .analysis.costs import LEAST_WARPGROUPS
from .blackwell.pairs import marked, pair_product
from .functions import take_positive
from .hopper.box_copies import boxes_of
from .hopper.factor_rounds import rounds_ahead
from .hopper.parting import (
    Parting,
    guarded_loops,
    least_warpgroups,
    loops_elsewhere,
    loops_of_products,
    plan_parting,
)
from .hopper.ring_parts import LOADERS, is_box
from .hopper.rings import Specialised
from .hopper.turns import PAIR, takes_turns
from .hopper.wait_choice import may_defer, products_of, why_awaited
from .hopper.warp_roles import PRODUCERS
from .kernel_pass import Kernel, KernelPass


@dataclass(frozen=True)
class SpecializeWarps(KernelPass):
    """Split a loop of a kernel between warps that load and warps that compute.

    In and out: level 2, kernels that are `tile.automatic`. The pass handles the first loop at
    the top level of a kernel whose copies, as written by tile-stage-wgmma, are all for
    `tile.warpgroup_dot`s or `tile.tensor_dot`s in its body. An additional warpgroup makes the
    copies by `tile.tma_load`, into a ring of as many stages as fit, or as `tile.stages` says.
    mbarriers signal when the part of a stage that a product reads is full, and when it is empty.
    An attribute marks the `scf.if` with the work of this warpgroup for tile-split-roles. A loop is
    left to tile-pipeline, with a remark that says why, if no tensor map describes an array, if
    the program uses thread indices, or if there are too few registers or threads. The loop may
    be inside a loop over tiles at the top level of a persistent kernel: then the ring continues
    from tile to tile, and room is left for the tiles that are stored. It may also be inside an
    `scf.if` there without results and without another branch. Bounds and indices may depend on
    numbers that are loaded at the top level, from memory that nothing has written before. The
    thread that loads also waits for kernels before this one, where the program does.
    Scale factors, which TMA would not put in the order of `tcgen05.cp`, are copied to the ring by
    two further warps of those that load, and tensor memory has columns for those of each stage.
    A product that tile-form-pairs has marked becomes one of the pair of CTAs (`cta_group::2`), each
    of which loads its rows of A and half of B's columns, with the scale factors of these rows and
    of all columns, if the kernel has clusters of two.

    Attributes:
        enabled: false leaves all loops to tile-pipeline.
        least: warpgroups that must compute. Of one alone an SM holds several CTAs, of which some
            multiply while others wait; a ring that takes all shared memory would leave one. One is
            enough where products are in tensor memory, as threads only issue them.
    """

    name: ClassVar[str] = "tile-specialize-warps"

    enabled: bool = True
    least: int = LEAST_WARPGROUPS

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        target = kernel.target
        if not (self.enabled and kernel.is_entry and kernel.is_automatic and target):
            return
        turns = PAIR if takes_turns(kernel.function) else 1
        if turns > 1:
            del kernel.function.attributes[PINGPONG]
        _pair(kernel)
        chosen: tuple[scf.ForOp, scf.ForOp | None, Parting] | None = None
        guarded = ((loop, None) for loop in guarded_loops(kernel))
        for loop, tiles in (*loops_of_products(kernel), *guarded):
            if tiles is None:
                turns = 1
            with kernel.at(loop):
                if chosen is not None:
                    _stays(kernel, loop, "another loop of the kernel is")
                    continue
                plan = self._too_few(kernel, turns) or plan_parting(
                    kernel, target, loop, tiles, turns=turns
                )
                if isinstance(plan, str):
                    _stays(kernel, loop, plan)
                else:
                    chosen = loop, tiles, plan
        for loop, why in loops_elsewhere(kernel):
            with kernel.at(loop):
                _stays(kernel, loop, why)
        if chosen is not None:
            with kernel.at(chosen[0]):
                _part(kernel, *chosen)

    def _too_few(self, kernel: Kernel, turns: int) -> str:
        """Why warps that load would not pay."""
        groups, least = kernel.threads // WARPGROUP_THREADS * turns, self.least
        if least == LEAST_WARPGROUPS:
            least = least_warpgroups(kernel)
        return (
            f"only {counted(groups, 'warpgroup')} would compute, fewer than {least}"
            if groups < least
            else ""
        )


def _pair(kernel: Kernel) -> None:
    """Let pairs of CTAs compute the products that are marked, if there are such pairs."""
    dots, size = marked(kernel), cluster_size(kernel.function)
    for loop, tiles in loops_of_products(kernel) if dots else ():
        if size is None or tiles is None or dots[0].operation.block != loop.body:
            continue
        with kernel.at(loop):
            pair_product(loop).rewrite()
            return
    for dot in dots:
        del dot.attributes[IN_PAIRS]


def _stays(kernel: Kernel, loop: scf.ForOp, why: str) -> None:
    """Say that threads that multiply also load, and what of its products follows from it."""
    kernel.missed(loop, f"is not split into warps that load and warps that compute: {why}")
    if may_defer(loop) and DEFER_WAIT not in loop.attributes:  # else tile-defer-waits says it
        kernel.missed(loop, f"waits for its products in each iteration: {why_awaited(loop, None)}")


def _part(kernel: Kernel, loop: scf.ForOp, tiles: scf.ForOp | None, plan: Parting) -> None:
    """Part a loop as planned.

    Raises:
        TilecError: if it asks for more stages than there is room for.
    """
    if plan.stages > plan.room:
        raise TilecError(
            f"{STAGES} = {plan.stages}, and {counted(plan.room, 'stage')} of {plan.bytes} bytes "
            f"would fit"
        )
    take_positive(loop, STAGES)
    _explain(kernel, loop, plan)
    _decide_wait(kernel, loop, plan)
    ctas = prod(cluster_size(kernel.function) or ()) if tiles is not None else 1
    if plan.turns > 1:
        kernel.function.attributes[TURNS] = i64(plan.turns)
    made = Specialised(
        loop,
        plan.copies,
        plan.stages,
        plan.roles,
        plan.needs,
        tiles,
        ctas,
        plan.turns,
        plan.guard,
        plan.waits,
    )
    made.run(plan.frame)


def _decide_wait(kernel: Kernel, loop: scf.ForOp, plan: Parting) -> None:
    """Record whether a product is in flight at the end of a round, for tile-defer-waits."""
    if not may_defer(loop):
        return
    why = why_awaited(loop, plan.stages)
    if DEFER_WAIT in loop.attributes:
        del loop.attributes[DEFER_WAIT]
    if why:
        kernel.missed(loop, f"waits for its products in each iteration: {why}")
        return
    loop.attributes[DEFER_WAIT] = ir.BoolAttr.get(True)
    several = len(products_of(loop)) > 1
    what, which, whose = ("products", "these", "their") if several else ("product", "this", "its")
    kernel.remark(
        loop,
        f"leaves its {what} in flight at the end of an iteration; the next one begins its own, "
        f"waits for {which}, and releases {whose} stage",
    )


def _explain(kernel: Kernel, loop: scf.ForOp, plan: Parting) -> None:
    roles = plan.roles
    each = roles.threads - PRODUCERS
    compute = f"{each * plan.turns} compute"
    if plan.turns > 1:
        compute = f"{plan.turns} times {each} compute whole tiles in turn"
    kernel.remark(
        loop,
        f"is split into roles: of {each * plan.turns + PRODUCERS} threads {compute}, with "
        f"{roles.consumer} registers each, and one of the {PRODUCERS} others, with "
        f"{roles.producer}, loads boxes by TMA to a ring of {counted(plan.stages, 'stage')} of "
        f"{plan.bytes} bytes",
    )
    for copy in plan.copies:
        view = copy.copy.opview
        assert isinstance(view, AsyncCopyOp)
        if not is_box(copy):
            rounds = counted(rounds_ahead(plan.stages), "round")
            kernel.remark(
                view,
                f"is made by {LOADERS * LANES} of the threads that load, which TMA would not put "
                f"in the order of tcgen05.cp; {rounds} are in flight at a time",
            )
            continue
        boxes = boxes_of(copy.alloc.results[0], view.panels)
        kernel.remark(
            view,
            f"is made by TMA, {boxes} a round; elements outside the array are zeros",
        )
    for wait in filter(None, plan.waits):
        kernel.remark(
            wait, "is also executed by the thread that loads, before what it stands before"
        )
