"""`tile-remove-conversions`: layout conversions dropped, moved and made cheaper."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.semantics import control_flow, is_removable
from tilec.dialects.tile.attributes import LAYOUT
from tilec.ir.mlir import ir
from tilec.isa import Target

from .base import walk
from .kernel_pass import Kernel, KernelPass
from .layouts.conversion_motion import carry, conversions, hoist, reuse, sink
from .layouts.layout_plans import LayoutPlanner
from .layouts.layout_types import layout_tile
from .layouts.tile_classes import is_product
from .remove_dead import is_unused

ROUNDS = 16
"""Rounds at most; each makes the program cheaper, and two or three do."""


class RemoveConversions(KernelPass):
    """Drop `tile.convert_layout`s of tensors, or move them to where they cost less.

    In and out: level 2, kernels that are `tile.automatic`; hand-written layouts keep their
    conversions. A tile is loaded or computed in the required layout, back to constants and
    loads, if that costs less than converting it. Conversions of one tile to the same layout are
    merged. Conversions of loop-invariant tiles leave the loop, and a loop-carried tile takes
    the layout to which each iteration converts it. Elementwise ops are moved before a
    conversion if their result is narrower. Costs are those of `tilec.layout.conversion`;
    `tile-stage-conversions` decides how the remaining conversions are done. Layouts pinned by
    `tile.layout` are kept, and the attribute is removed.
    """

    name: ClassVar[str] = "tile-remove-conversions"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        if not kernel.is_automatic:
            return
        function, target = kernel.function, kernel.target
        for _ in range(ROUNDS):
            if not any(conversions(function)) or not _step(function, target):
                break
        for op in kernel.walk():
            if LAYOUT in op.attributes:
                del op.attributes[LAYOUT]


def _step(function: ir.OpView, target: Target | None) -> bool:
    """One round; whether it changed anything."""
    changed = False
    for op in conversions(function):
        changed |= _remake(op, target)
    _remove_dead(function)
    changed |= reuse(function)
    changed |= sink(function, target)
    changed |= hoist(function)
    changed |= carry(function, target)
    _remove_dead(function)
    return changed


def _remake(op: ir.OpView, target: Target | None) -> bool:
    """Replace a conversion by a cheaper way to have its result, if there is one."""
    source, result = op.operands[0], op.results[0]
    before, after = layout_tile(source), layout_tile(result)
    assert before is not None
    assert after is not None
    planner = LayoutPlanner(target, staged=all(_is_factor(use) for use in result.uses))
    plan = planner.best(source, after.layout)
    if plan.cost >= planner.price(before, after.layout) and before.layout != after.layout:
        return False
    with ir.InsertionPoint(op), op.location:
        made = plan.make(planner)
    result.replace_all_uses_with(made)
    op.operation.erase()
    return True


def _is_factor(use: ir.OpOperand) -> bool:
    """Whether a use is as operand A or B of a product."""
    return is_product(use.owner) and use.operand_number < 2


def _remove_dead(function: ir.OpView) -> None:
    """Erase tiles that nobody uses, and what only they used."""
    for op in reversed(list(walk(function))):
        gives_tiles = all(layout_tile(result) is not None for result in op.results)
        if gives_tiles and is_unused(op) and is_removable(op) and control_flow(op) is None:
            op.operation.erase()
