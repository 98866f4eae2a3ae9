"""Which values are the same in all lanes of a warp, and which in all threads of a CTA."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType

from tilec.dialects.semantics import (
    ControlFlow,
    Semantics,
    Spread,
    Variation,
    control_flow,
    is_function,
    semantics_of,
)
from tilec.dialects.semantics.control import last_of
from tilec.ir.aliases import Op, Value
from tilec.ir.attributes import attribute
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import ir

from ..emit import constant_of
from ..functions import block_size, is_kernel

WARP_BITS = 5
"""Bits of the thread number that are the lane."""


_ORDER = {2: 0, 3: -1, 4: -1, 5: 0, 6: 0, 7: -1, 8: -1, 9: 0}
"""Of the predicates slt, sle, sgt, sge and unsigned: the low bits of a bound that parts warps."""


class Uniformity:
    """The analysis of one function, for values and for places.

    A value is uniform if what computes it is: constants, a kernel's arguments, block numbers,
    arithmetic on uniform values, loads from uniform addresses, scalars that tiles are reduced to,
    the warp number (the thread number shifted by five or more, where a warp lies along x), a
    comparison that tells threads apart only by their warps. Control flow counts: what an `scf.if`
    or a loop yields is uniform only if its condition or bounds are.
    """

    def __init__(self, function: ir.OpView) -> None:
        size = block_size(function)
        # With another x extent a warp wraps into the next row of threads.
        self._along_x = size is not None and (size[0] % 32 == 0 or size[1] == size[2] == 1)
        one_warp = size is not None and prod(size) <= 1 << WARP_BITS
        self._warp = Spread.CTA if one_warp else Spread.WARP
        self._known: dict[Value, Spread] = {}
        if not is_kernel(function):
            for argument in function.regions[0].blocks[0].arguments:
                self._known[argument] = Spread.DIVERGENT
        changed = True
        self._changed = False
        while changed:
            self._changed = False
            for region in function.regions:
                for block in region:
                    self._block(block)
            changed = self._changed

    def of(self, value: Value) -> Spread:
        """How `value` varies."""
        return self._known.get(value, Spread.CTA)

    def _set(self, value: Value, spread: Spread) -> None:
        if spread > self.of(value):
            self._known[value] = spread
            self._changed = True

    def _block(self, block: ir.Block) -> None:
        for op in block.operations:
            declared = semantics_of(op)
            if declared.control is not None:
                self._structured(op.operation, declared.control)
            else:
                self._simple(op.operation, declared)

    def _simple(self, op: ir.Operation, declared: Semantics) -> None:
        spread = self._of_results(op, declared)
        for region in op.regions:
            for block in region:
                for argument in block.arguments:
                    self._set(argument, Spread.DIVERGENT)
                self._block(block)
                yielded = last_of(block).operands if len(block.operations) else ()
                spread = max([spread, *map(self.of, yielded)])
        if spread is not Spread.CTA:
            for result in op.results:
                self._set(result, spread)

    def _of_results(self, op: ir.Operation, declared: Semantics) -> Spread:
        """How the results of an op vary, by its declaration."""
        varies = declared.varies
        variation = varies if isinstance(varies, Variation) else varies(op.opview)
        match variation:
            case Variation.CTA:
                return Spread.CTA
            case Variation.WARPGROUP:
                return min(self._warp, Spread.WARPGROUP)
            case Variation.WARP:
                return self._warp
            case Variation.DIVERGENT:
                return Spread.DIVERGENT
            case Variation.THREAD_NUMBER:
                return self._of_index(op)
        spread = max(map(self.of, op.operands), default=Spread.CTA)
        if variation is Variation.SAME_VALUE:
            return spread
        if spread is Spread.THREAD:
            spread = self._of_thread(op)
        return min(spread, self._warp) if variation is Variation.WARP_AT_MOST else spread

    def _of_index(self, op: ir.Operation) -> Spread:
        """Of the number of a thread along a dimension; upstream's register is that along x."""
        if not self._along_x:
            return Spread.DIVERGENT
        if "dimension" not in op.attributes or dimension_of(op) == 0:
            return Spread.THREAD
        return self._warp

    def _of_thread(self, op: ir.Operation) -> Spread:
        """What becomes of a thread number."""
        operands = list(op.operands)
        if len(operands) == 2 and self.of(operands[0]) is Spread.THREAD:
            by = constant_of(operands[1])
            drops_lanes = _DROPS_LANES.get(op.name)
            if by is not None and drops_lanes is not None and drops_lanes(op, by):
                return self._warp
        return Spread.DIVERGENT

    def _structured(self, op: ir.Operation, control: ControlFlow) -> None:
        way = self._way(op, control)
        for argument in control.counters(op):
            self._set(argument, way)
        flows = list(control.flows(op))
        for source, target in flows:
            self._set(target, max(self.of(source), way))
        for region in op.regions:
            for block in region:
                self._block(block)
        way = max(way, self._way(op, control))
        if control.deciding(op) is None:
            for result in op.results:
                self._set(result, Spread.DIVERGENT)
        for source, target in flows:
            self._set(target, max(self.of(source), way))

    def _way(self, op: ir.Operation, control: ControlFlow) -> Spread:
        """How the way through structured control flow varies."""
        deciding = control.deciding(op)
        if deciding is None:
            return Spread.DIVERGENT
        spread = max(map(self.of, deciding))
        return spread if spread <= Spread.WARP else Spread.DIVERGENT


def _parts_warps(comparison: ir.Operation, bound: int) -> bool:
    """Whether a comparison of the thread number with `bound` has one outcome in each warp."""
    low = _ORDER.get(attribute(comparison, "predicate", ir.IntegerAttr).value)
    return low is not None and (bound - low) % (1 << WARP_BITS) == 0


def _shifts_out(op: ir.Operation, by: int) -> bool:
    del op
    return by >= WARP_BITS


def _divides_out(op: ir.Operation, by: int) -> bool:
    del op
    return by > 0 and by % (1 << WARP_BITS) == 0


def _masks_out(op: ir.Operation, by: int) -> bool:
    del op
    return by & ((1 << WARP_BITS) - 1) == 0


_DROPS_LANES: Mapping[str, Callable[[ir.Operation, int], bool]] = MappingProxyType(
    {
        "arith.andi": _masks_out,
        "arith.cmpi": _parts_warps,
        "arith.divsi": _divides_out,
        "arith.divui": _divides_out,
        "arith.floordivsi": _divides_out,
        "arith.shrsi": _shifts_out,
        "arith.shrui": _shifts_out,
    }
)
"""Whether arithmetic on a thread number and a constant gives all lanes of a warp one value."""


def control_of(uniformity: Uniformity, op: Op, limit: Spread) -> Op | None:
    """The innermost op under which `op` stands that sends threads different ways, or None.

    That is a structured op whose condition or bounds vary more than `limit`, or any op with
    blocks that branch to each other.
    """
    inner = op.operation
    while inner.parent is not None and not is_function(inner):
        parent = inner.parent
        if _diverges(uniformity, parent.operation, inner, limit):
            return parent
        inner = parent.operation
    return None


def _diverges(
    uniformity: Uniformity, parent: ir.Operation, inner: ir.Operation, limit: Spread
) -> bool:
    control = control_flow(parent)
    deciding = list(parent.operands) if control is None else control.deciding(parent)
    if deciding is None or any(uniformity.of(value) > limit for value in deciding):
        return True
    # Blocks that branch to each other: only what every path passes is sure to be whole.
    region = next((r for r in parent.regions if len(r.blocks) > 1), None)
    return region is not None and inner.block != region.blocks[0]
