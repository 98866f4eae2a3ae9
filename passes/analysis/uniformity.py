"""Which values are the same in all lanes of a warp, and which in all threads of a CTA."""

from __future__ import annotations

from enum import IntEnum
from math import prod
from typing import Any

from tilec.dialects.tile.dialect import FragType

from ..emit import constant_of
from ..functions import block_size, is_kernel

WARP_BITS = 5
"""Bits of the thread number that are the lane."""


class Spread(IntEnum):
    """How a value varies over the threads of a CTA; greater is less known."""

    CTA = 0
    """One value a CTA."""
    WARP = 1
    """One value a warp."""
    THREAD = 2
    """The thread number along x: all but its low five bits are one value a warp."""
    DIVERGENT = 3
    """Anything."""


_LANE_OPS = frozenset(
    {
        "gpu.global_id",
        "gpu.lane_id",
        "gpu.shuffle",
        "llvm.alloca",
        "llvm.cmpxchg",
        "memref.alloca",
        "nvvm.elect.sync",
        "nvvm.match.sync",
        "nvvm.read.ptx.sreg.laneid",
    }
)
"""Ops whose results differ between lanes, or point to what does."""
_OPAQUE = (
    "func.call",
    "llvm.call",
    "llvm.inline_asm",
    "llvm.invoke",
    "nvvm.inline_ptx",
    "nvvm.mbarrier.",
    "nvvm.read.ptx.sreg.lanemask",
    "nvvm.read.ptx.sreg.tid",
)
"""Beginnings of the names of ops that may ask which lane they run in."""
_THREAD_OPS = frozenset({"gpu.thread_id", "nvvm.read.ptx.sreg.tid.x"})
_CASTS = frozenset(
    {"arith.index_cast", "arith.index_castui", "arith.extui", "arith.extsi", "arith.trunci"}
)
_WARP_OPS = frozenset({"gpu.subgroup_id", "nvvm.vote.sync", "nvvm.redux.sync"})
_STRUCTURED = frozenset({"scf.for", "scf.if", "scf.while"})
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

    def __init__(self, function: Any) -> None:
        size = block_size(function)
        # With another x extent a warp wraps into the next row of threads.
        self._along_x = size is not None and (size[0] % 32 == 0 or size[1] == size[2] == 1)
        one_warp = size is not None and prod(size) <= 1 << WARP_BITS
        self._warp = Spread.CTA if one_warp else Spread.WARP
        self._known: dict[Any, Spread] = {}
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

    def of(self, value: Any) -> Spread:
        """How `value` varies."""
        return self._known.get(value, Spread.CTA)

    def _set(self, value: Any, spread: Spread) -> None:
        if spread > self.of(value):
            self._known[value] = spread
            self._changed = True

    def _block(self, block: Any) -> None:
        for op in block.operations:
            name = op.operation.name
            if name in _STRUCTURED:
                self._structured(op, name)
            else:
                self._simple(op, name)

    def _simple(self, op: Any, name: str) -> None:
        operation = op.operation
        spread = max(map(self.of, operation.operands), default=Spread.CTA)
        if spread is Spread.THREAD:
            spread = self._of_thread(operation, name)
        if name in _THREAD_OPS:
            spread = self._of_index(operation)
        elif name in _WARP_OPS:
            spread = self._warp
        elif name in _LANE_OPS or "atomic" in name or name.startswith(_OPAQUE):
            spread = Spread.DIVERGENT
        elif name == "tile.reduce":  # a scalar is the same for all who held the tile
            of_warp = isinstance(operation.operands[0].type, FragType)
            spread = min(spread, self._warp) if of_warp else Spread.CTA
        for region in operation.regions:
            for block in region:
                for argument in block.arguments:
                    self._set(argument, Spread.DIVERGENT)
                self._block(block)
                yielded = [v for inner in list(block.operations)[-1:] for v in inner.operands]
                spread = max([spread, *map(self.of, yielded)])
        if spread is not Spread.CTA:
            for result in operation.results:
                self._set(result, spread)

    def _of_index(self, operation: Any) -> Spread:
        dimension = (
            str(operation.attributes["dimension"]) if operation.name.startswith("gpu") else "x"
        )
        if not self._along_x:
            return Spread.DIVERGENT
        return Spread.THREAD if " x" in dimension or dimension == "x" else self._warp

    def _of_thread(self, operation: Any, name: str) -> Spread:
        """What becomes of a thread number."""
        if name in _CASTS:
            return Spread.THREAD
        operands = list(operation.operands)
        if len(operands) == 2 and self.of(operands[0]) is Spread.THREAD:
            by = constant_of(operands[1])
            if by is not None and (
                (name == "arith.cmpi" and _parts_warps(operation, by))
                or (name in ("arith.shrui", "arith.shrsi") and by >= WARP_BITS)
                or (
                    name in ("arith.divui", "arith.divsi", "arith.floordivsi")
                    and by > 0
                    and by % (1 << WARP_BITS) == 0
                )
                or (name == "arith.andi" and by & ((1 << WARP_BITS) - 1) == 0)
            ):
                return self._warp
        return Spread.DIVERGENT

    def _structured(self, op: Any, name: str) -> None:
        operation = op.operation
        blocks = [block for region in operation.regions for block in region]
        inputs = list(operation.operands)
        control = self._control(operation, name, blocks)
        if name == "scf.for":
            (block,) = blocks
            induction, *carried = block.arguments
            self._set(induction, control)
            for argument, start in zip(carried, inputs[3:], strict=True):
                self._set(argument, self.of(start))
        elif name == "scf.while":
            for argument, start in zip(blocks[0].arguments, inputs, strict=True):
                self._set(argument, self.of(start))
        for block in blocks:
            self._block(block)
        control = max(control, self._control(operation, name, blocks))
        for block in blocks:
            yielded = list(block.operations[len(block.operations) - 1].operation.operands)
            self._yields(operation, name, block, blocks, yielded, control)

    def _control(self, operation: Any, name: str, blocks: list[Any]) -> Spread:
        """How the way through a structured op varies."""
        if name == "scf.for":
            deciding = list(operation.operands)[:3]
        elif name == "scf.if":
            deciding = list(operation.operands)[:1]
        else:
            condition = blocks[0].operations[len(blocks[0].operations) - 1]
            deciding = list(condition.operation.operands)[:1]
        spread = max(map(self.of, deciding))
        return spread if spread <= Spread.WARP else Spread.DIVERGENT

    def _yields(
        self,
        operation: Any,
        name: str,
        block: Any,
        blocks: list[Any],
        yielded: list[Any],
        control: Spread,
    ) -> None:
        results = list(operation.results)
        if name == "scf.for":
            targets = [list(block.arguments)[1:], results]
        elif name == "scf.while" and block == blocks[0]:
            yielded = yielded[1:]
            targets = [list(blocks[1].arguments), results]
        elif name == "scf.while":
            targets = [list(blocks[0].arguments)]
        else:
            targets = [results]
        for values in targets:
            for value, source in zip(values, yielded, strict=False):
                self._set(value, max(self.of(source), control))


def _parts_warps(comparison: Any, bound: int) -> bool:
    """Whether a comparison of the thread number with `bound` has one outcome in each warp."""
    low = _ORDER.get(int(comparison.attributes["predicate"].value))
    return low is not None and (bound - low) % (1 << WARP_BITS) == 0


def control_of(uniformity: Uniformity, op: Any, limit: Spread) -> Any:
    """The innermost op under which `op` stands that sends threads different ways, or None.

    That is a structured op whose condition or bounds vary more than `limit`, or any op with
    blocks that branch to each other.
    """
    inner = op.operation
    while inner.parent is not None and inner.name not in ("gpu.func", "func.func", "llvm.func"):
        parent = inner.parent
        if _diverges(uniformity, parent.operation, inner, limit):
            return parent
        inner = parent.operation
    return None


def _diverges(uniformity: Uniformity, parent: Any, inner: Any, limit: Spread) -> bool:
    name = parent.name
    deciding = list(parent.operands)
    if name in ("scf.forall", "scf.parallel"):
        return True
    if name == "scf.if":
        deciding = deciding[:1]
    elif name == "scf.for":
        deciding = deciding[:3]
    elif name == "scf.while":
        before = parent.regions[0].blocks[0]
        deciding = list(before.operations[len(before.operations) - 1].operation.operands)[:1]
    if any(uniformity.of(value) > limit for value in deciding):
        return True
    # Blocks that branch to each other: only what every path passes is sure to be whole.
    region = next((r for r in parent.regions if len(r.blocks) > 1), None)
    return region is not None and inner.block != region.blocks[0]
