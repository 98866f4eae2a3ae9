"""The cheapest way to have a tile under another layout: convert it, or make it so."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import NamedTuple

from tilec.dialects.semantics import LayoutRule, layout_rule, semantics_of
from tilec.dialects.tile.attributes import LAYOUT
from tilec.dialects.tile.ops import ConvertLayoutOp, LoadOp
from tilec.dialects.tile.ops.memory import MemoryOp, vector_of
from tilec.dialects.tile.tiles import TileValue, bits_of
from tilec.ir.aliases import Value
from tilec.ir.mlir import ir
from tilec.isa import Target
from tilec.layout import LayoutError, LinearLayout
from tilec.layout.conversion import convert

from .layout_relations import agree, backward
from .layout_types import convert_to, has_one_use, layout_tile, set_layout
from .layout_wants import contiguous_axis, legal_layout

DEPTH = 16
"""Ops looked through."""
ACCESS = 4
"""What an access to global memory costs in instructions: a round figure, not a measurement."""


class LayoutPlan(NamedTuple):
    """How to have a tile under another layout.

    Attributes:
        cost: instructions and wavefronts of a warp, as `tilec.layout.plans.Price` counts them.
        make: emits what it takes, by the `LayoutPlanner` that it is of, and returns the tile.
    """

    cost: float
    make: Callable[[LayoutPlanner], Value]


def price(tile: TileValue, layout: LinearLayout, target: Target | None) -> float:
    """What a conversion costs a warp; infinite where there is none."""
    try:
        return convert(tile.layout, layout, bits_of(tile.element), target).price.total
    except LayoutError:
        return inf


class LayoutPlanner:
    """Plans how to have one tile under another layout.

    Args:
        target: whose matrix instructions conversions may use.
        staged: whether loads of the tiles asked for will pass through shared memory, in which
            their layout does not matter.
    """

    def __init__(self, target: Target | None, *, staged: bool) -> None:
        self._target = target
        self._staged = staged
        self._known: dict[tuple[Value, LinearLayout], LayoutPlan] = {}
        self._copies: dict[tuple[Value, LinearLayout], Value] = {}

    def price(self, tile: TileValue, layout: LinearLayout) -> float:
        """What a conversion costs a warp; infinite where there is none."""
        return price(tile, layout, self._target)

    def best(self, value: Value, layout: LinearLayout, depth: int = DEPTH) -> LayoutPlan:
        """The cheapest way to have `value`, a tensor with a layout, under `layout`."""
        key = (value, layout)
        if key not in self._known:
            self._known[key] = self._best(value, layout, depth)
        return self._known[key]

    def _best(self, value: Value, layout: LinearLayout, depth: int) -> LayoutPlan:
        tile = layout_tile(value)
        assert tile is not None
        if tile.layout == layout:
            return LayoutPlan(0, lambda _: value)
        direct = LayoutPlan(self.price(tile, layout), lambda _: convert_to(value, layout))
        owner = value.owner
        if isinstance(owner, ir.Block) or not depth:
            return direct
        made = None if LAYOUT in owner.attributes else self._made(owner.opview, layout, depth)
        return made if made is not None and made.cost <= direct.cost else direct

    def _made(self, op: ir.OpView, layout: LinearLayout, depth: int) -> LayoutPlan | None:
        """The op's result under another layout from the start."""
        if isinstance(op, LoadOp):
            return self._load(op, layout)
        if isinstance(op, ConvertLayoutOp):
            inner = self.best(op.operands[0], layout, depth - 1)
            source = layout_tile(op.operands[0])
            assert source is not None
            own = layout_tile(op.results[0])
            assert own is not None
            saved = self.price(source, own.layout) if has_one_use(op.results[0]) else 0
            return LayoutPlan(max(inner.cost - saved, 0), inner.make)
        cost = semantics_of(op).cost
        if cost is None:
            return None
        match layout_rule(op):
            case LayoutRule.FREE:
                return LayoutPlan(cost, lambda planner: planner._copy(op, layout, {}))
            case LayoutRule.RELATED:
                return self._view(op, layout, depth)
            case LayoutRule.JOINED:
                return self._computed(op, layout, depth, cost)
        return None

    def _load(self, op: LoadOp, layout: LinearLayout) -> LayoutPlan | None:
        tile = layout_tile(op.results[0])
        assert tile is not None
        if not legal_layout(op, tile, layout):
            return None
        if self._staged:
            cost = 0.0 if has_one_use(op.results[0]) else ACCESS
        else:
            saved = _accesses(op, tile.layout) if has_one_use(op.results[0]) else 0
            cost = _accesses(op, layout) - saved
        return LayoutPlan(max(cost, 0), lambda planner: planner._copy(op, layout, {}))

    def _view(self, op: ir.OpView, layout: LinearLayout, depth: int) -> LayoutPlan | None:
        source = layout_tile(op.operands[0])
        assert source is not None
        before = backward(op, layout, source.shape)
        if before is None or not agree(op, before, layout):
            return None
        inner = self.best(op.operands[0], before, depth - 1)
        return LayoutPlan(inner.cost, lambda planner: planner._copy(op, layout, {0: inner}))

    def _computed(
        self, op: ir.OpView, layout: LinearLayout, depth: int, each: int
    ) -> LayoutPlan | None:
        operands = list(op.operation.operands)
        inner = {
            number: self.best(operand, layout, depth - 1)
            for number, operand in enumerate(operands)
            if layout_tile(operand) is not None
        }
        distinct = {operands[number]: way for number, way in inner.items()}
        cost = sum(way.cost for way in distinct.values())
        again = 0 if has_one_use(op.results[0]) else each * layout.in_sizes["register"]
        return LayoutPlan(cost + again, lambda planner: planner._copy(op, layout, inner))

    def _copy(self, op: ir.OpView, layout: LinearLayout, inner: Mapping[int, LayoutPlan]) -> Value:
        """The op once more, its result under another layout, some operands had otherwise."""
        key = (op.results[0], layout)
        if key in self._copies:
            return self._copies[key]
        with ir.InsertionPoint(op), op.location:
            operands = op.operation.operands
            plans = {operands[number]: plan for number, plan in inner.items()}
            made = {operand: plan.make(self) for operand, plan in plans.items()}
            copy = op.operation.clone()
        for number in inner:
            copy.operands[number] = made[operands[number]]
        set_layout(copy.results[0], layout)
        self._copies[key] = copy.results[0]
        return copy.results[0]


def _accesses(op: MemoryOp, layout: LinearLayout) -> float:
    """What it costs a lane to load its part of a tile from global memory."""
    axis = contiguous_axis(op, len(layout.outs))
    wanted = [
        tuple((1 << bit) * (at == axis) for at in range(len(layout.outs)))
        for bit in range(vector_of(op).bit_length() - 1)
    ]
    run = 0
    registers = layout.bases["register"]
    while run < len(wanted) and wanted[run] in registers:
        run += 1
    return ACCESS * 2.0 ** (len(registers) - run)
