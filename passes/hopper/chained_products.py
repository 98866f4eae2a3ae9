"""Two products of a round, of which the second takes what is computed of the first."""

from __future__ import annotations

from math import prod
from typing import NamedTuple

from tilec.dialects.semantics import semantics_of
from tilec.dialects.tile.ops import (
    BarrierArriveOp,
    BarrierWaitOp,
    WarpgroupDotOp,
)
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

from ..analysis.index_forms import is_pure
from ..base import walk


class Step(NamedTuple):
    """A product of what a ring's stage holds.

    Attributes:
        wait: until it is full.
        dot: the product.
        release: says that it is empty.
    """

    wait: ir.Operation
    dot: WarpgroupDotOp
    release: ir.Operation

    @property
    def ops(self) -> list[ir.Operation]:
        """All of them, in order."""
        return [self.wait, self.dot.operation, self.release]


class ChainedProducts(NamedTuple):
    """The body of a loop with such products.

    Attributes:
        first: the first product.
        second: the one that goes on in an accumulator that the loop carries.
        carried: the number of that among what the loop carries.
        before: ops in front of the first product.
        between: ops after it that only compute, and do not need the accumulator; its release.
        rescaling: ops that do need it.
        scalars: ops by which the second finds its stage, which are among `before` and `between`.
        roots: arguments of the body that those depend on.
    """

    first: Step
    second: Step
    carried: int
    before: list[ir.Operation]
    between: list[ir.Operation]
    rescaling: list[ir.Operation]
    scalars: list[ir.Operation]
    roots: list[Value]

    def registers(self, threads: int) -> int:
        """Registers of a thread that hold both accumulators, and A, while both go on.

        Args:
            threads: that share the tiles.
        """
        first, second = self.first.dot, self.second.dot
        tiles = [first.d, second.d, second.a]
        return sum(_bits(tile) for tile in tiles) // 32 // threads


def _bits(tile: Value) -> int:
    type_ = ir.RankedTensorType(tile.type)
    return prod(type_.shape) * bits_of(type_.element_type)


def has_chain(loop: Op) -> bool:
    """Whether the body of a loop has two products, A of one of them in registers."""
    dots = _dots(loop)
    return len(dots) == 2 and "a" in dots[1].tiles()


def _dots(loop: Op) -> list[WarpgroupDotOp]:
    return [op for op in loop.regions[0].blocks[0].operations if isinstance(op, WarpgroupDotOp)]


def chained_products(loop: Op) -> ChainedProducts | str:
    """The products of a loop's body; why they are not such, if they are not.

    Args:
        loop: an `scf.for` that `has_chain`, with a ring, as tile-specialize-warps leaves it.
    """
    block = loop.regions[0].blocks[0]
    *ops, end = [op.operation for op in block.operations]
    steps = _steps(ops)
    if steps is None:
        return "its products do not each wait for a part of a ring, and release it"
    first, second = steps
    rest = [op for op in ops if op not in set(second.ops)]
    passed = list(end.operands)
    carried = _carried(second.dot, passed)
    if carried is None:
        return "its second product is not the accumulator of the next iteration"
    rescaling = _depending(rest, block.arguments[1 + carried])
    why = _why_in_turn(first, second, rescaling, {block.arguments[1 + carried]}, passed)
    if why:
        return why
    wanted = (value for op in second.ops for value in _taken(op))
    places = [value for value in wanted if value not in (second.dot.a, second.dot.c)]
    found = _slice(places, block)
    if found is None:
        return "its second product does not find its stage by numbers alone"
    late = set(rescaling)
    at = rest.index(first.dot.operation)
    return ChainedProducts(
        first,
        second,
        carried,
        before=[op for op in rest[:at] if op not in late],
        between=[op for op in rest[at + 1 :] if op not in late],
        rescaling=rescaling,
        scalars=[op for op in ops if op in found[0]],
        roots=found[1],
    )


def _carried(dot: WarpgroupDotOp, passed: list[Value]) -> int | None:
    """The number of a product's result among what is passed on; None if it is used otherwise."""
    uses = sum(1 for _ in dot.d.uses)
    return passed.index(dot.d) if uses == 1 and dot.d in passed else None


def _why_in_turn(
    first: Step,
    second: Step,
    rescaling: list[ir.Operation],
    given: set[Value],
    passed: list[Value],
) -> str:
    """Why the first product needs the second of the round before; empty if it does not.

    Args:
        first: the one product.
        second: the other.
        rescaling: ops that depend on the accumulator.
        given: the accumulator.
        passed: what the round passes on.
    """
    if any(op in first.ops or not _only_computes(op) for op in rescaling):
        return "its first product depends on the second of the previous iteration"
    given = given.union(*(op.results for op in rescaling))
    others = {value for op in second.ops for value in _taken(op)} - {second.dot.c}
    others |= set(passed) - {second.dot.d}
    if second.dot.c not in given or given & others:
        return "its loop-carried value is not one rescaled accumulator"
    if isinstance(second.dot.a.owner, ir.Block):
        return "A of its second product is not computed in the iteration"
    return ""


def _steps(ops: list[ir.Operation]) -> tuple[Step, Step] | None:
    """The two steps, if they are all that a body does besides computing."""
    acting = [op.opview for op in ops if not _only_computes(op)]
    found = [_step(acting[at : at + 3]) for at in (0, 3)] if len(acting) == 6 else []
    steps = [step for step in found if step is not None]
    return (steps[0], steps[1]) if len(steps) == 2 else None


def _step(ops: list[ir.OpView]) -> Step | None:
    """A wait, a product and a release; None if they are others."""
    wait, dot, release = ops
    if not isinstance(wait, BarrierWaitOp) or not isinstance(dot, WarpgroupDotOp):
        return None
    if not isinstance(release, BarrierArriveOp):
        return None
    return Step(wait.operation, dot, release.operation)


def _only_computes(op: Op) -> bool:
    """Whether an op does nothing but give results."""
    return semantics_of(op).effects == () and not len(op.regions)


def _taken(op: ir.Operation) -> list[Value]:
    """The operands of an op and of what it holds."""
    return [value for one in (op, *walk(op)) for value in one.operation.operands]


def _depending(ops: list[ir.Operation], value: Value) -> list[ir.Operation]:
    """The ops that depend on a value, in order."""
    known, found = {value}, []
    for op in ops:
        if any(taken in known for taken in _taken(op)):
            found.append(op)
            known |= set(op.results)
    return found


def _slice(values: list[Value], block: ir.Block) -> tuple[set[ir.Operation], list[Value]] | None:
    """Pure ops of a block from which values are computed, and its arguments that they need."""
    ops: set[ir.Operation] = set()
    roots: dict[Value, None] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        owner = value.owner
        if isinstance(owner, ir.Block):
            if owner == block:
                if isinstance(value.type, ir.RankedTensorType):
                    return None
                roots[value] = None
            continue
        op = owner.operation
        if op.block != block or op in ops:
            continue
        if not is_pure(op):
            return None
        ops.add(op)
        pending += list(op.operands)
    return ops, list(roots)
