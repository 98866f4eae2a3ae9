"""Which products of warpgroups are in flight where: a dataflow over structured control flow.

A group is known by its age, the number of groups closed since its products began: a wait that
leaves N in flight has waited for what is older than N. Where ways meet, the youngest counts. A
round of a loop hands accumulators on under the names of the next, so that two may take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tilec.dialects.semantics import control_flow
from tilec.dialects.semantics.control import Branch, Conditional, Counted, last_of
from tilec.dialects.tile.ops import WgmmaCommitOp, WgmmaWaitOp
from tilec.dialects.tile.ops.wgmma import WgmmaProduct
from tilec.dialects.tile.warpgroup import warpgroup_tile
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir

K = TypeVar("K")
Pairs = Iterable[tuple[Value, Value]]
"""Values, and the names under which they go on."""


@dataclass(frozen=True)
class Flight:
    """What may be in flight at a point of the program.

    Attributes:
        ages: of each accumulator in flight that a wait may name.
        reads: of each product that may still read shared memory, by its result, and whether
            it is of the present round of the loops around it.
        taken: accumulators that a product has made its own, and which.
    """

    ages: dict[Value, int] = field(default_factory=dict)
    reads: dict[tuple[Value, bool], int] = field(default_factory=dict)
    taken: dict[Value, WgmmaProduct] = field(default_factory=dict)

    def joined(self, other: Flight) -> Flight:
        """What may be in flight after either."""
        return Flight(
            _youngest(self.ages, other.ages),
            _youngest(self.reads, other.reads),
            {**other.taken, **self.taken},
        )

    def issued(self, op: WgmmaProduct) -> Flight:
        """After a product: its accumulator is in flight under its result's name."""
        source, result = op.operands[2], op.results[0]
        ages = {value: age for value, age in self.ages.items() if value != source}
        return Flight(
            {**ages, result: 0}, {**self.reads, (result, True): 0}, {**self.taken, source: op}
        )

    def committed(self) -> Flight:
        """After the group is closed."""
        return replace(self, ages=_older(self.ages), reads=_older(self.reads))

    def waited(self, pending: int) -> Flight:
        """After a wait that leaves so many groups."""
        ages = {value: age for value, age in self.ages.items() if age <= pending}
        reads = {read: age for read, age in self.reads.items() if age <= pending}
        return replace(self, ages=ages, reads=reads)

    def handed_on(self, pairs: Pairs, left: ir.Block | None = None) -> Flight:
        """With values under further names; those of a block that is left have lost theirs."""
        named = [(target, self.ages[value]) for value, target in pairs if value in self.ages]
        if left is None:
            return replace(self, ages=_youngest(self.ages, dict(named)))
        ages = {value: age for value, age in self.ages.items() if not _is_in(value, left)}
        reads: dict[tuple[Value, bool], int] = {}
        for (result, present), age in self.reads.items():
            key = result, present and not _is_in(result, left)
            reads[key] = min(age, reads.get(key, age))
        taken = {value: op for value, op in self.taken.items() if not _is_in(value, left)}
        return Flight(_youngest(ages, dict(named)), reads, taken)


def product_of(result: Value) -> WgmmaProduct:
    """The product that a value is the result of."""
    owner = result.owner
    assert not isinstance(owner, ir.Block)
    product = owner.operation.opview
    assert isinstance(product, WgmmaProduct)
    return product


def _youngest(one: dict[K, int], other: dict[K, int]) -> dict[K, int]:
    found = dict(one)
    for key, age in other.items():
        found[key] = min(age, found.get(key, age))
    return found


def _older(ages: dict[K, int]) -> dict[K, int]:
    return {key: age + 1 for key, age in ages.items()}


def _is_in(value: Value, block: ir.Block) -> bool:
    """Whether a value is made in a block, or in one inside it."""
    owner = value.owner
    here = owner if isinstance(owner, ir.Block) else owner.operation.block
    while here != block:
        around = here.owner.operation
        if around.parent is None:
            return False
        here = around.block
    return True


Visit = Callable[[Op, Flight], None]
"""Told of an op, and what may be in flight before it."""


def follow(function: Op, visit: Visit) -> Flight:
    """Tell `visit` of every op of a function once, with what may be under way before it.

    Returns:
        What may be in flight at its end.
    """
    state = Flight()
    for block in function.regions[0]:
        state = _block(block, state, visit)
    return state


def _block(block: ir.Block, state: Flight, visit: Visit | None) -> Flight:
    for op in block.operations:
        if visit is not None:
            visit(op, state)
        state = _after(op, state, visit)
    return state


def _after(op: ir.OpView, state: Flight, visit: Visit | None) -> Flight:
    if isinstance(op, WgmmaProduct):
        return state.issued(op)
    if isinstance(op, WgmmaCommitOp):
        return state.committed()
    if isinstance(op, WgmmaWaitOp):
        return state.waited(op.pending.value)
    if not len(op.regions):
        return state
    match control_flow(op):
        case Counted():
            return _counted(op, state, visit)
        case Branch():
            return _branch(op, state, visit)
        case Conditional():
            return _conditional(op, state, visit)
    ends = [_block(block, state, visit) for region in op.regions for block in region]
    for end in ends:
        state = state.joined(end)
    return state


def _fixed(start: Flight, once: Callable[[Flight], Flight]) -> Flight:
    """What is in flight when a round begins, whichever round it is."""
    while True:
        found = start.joined(once(start))
        if found == start:
            return start
        start = found


def _counted(op: ir.OpView, state: Flight, visit: Visit | None) -> Flight:
    body = op.regions[0].blocks[0]
    arguments, results = list(body.arguments)[1:], list(op.results)
    starts, yielded = list(op.operands)[Counted.BOUNDS :], list(last_of(body).operands)

    def back(state: Flight) -> Flight:
        end = _block(body, state, None)
        return end.handed_on(_pairs(yielded, arguments), body)

    head = _fixed(state.handed_on(_pairs(starts, arguments)), back)
    end = _block(body, head, visit).handed_on(_pairs(yielded, results), body)
    return state.handed_on(_pairs(starts, results)).joined(end)


def _branch(op: ir.OpView, state: Flight, visit: Visit | None) -> Flight:
    ends = []
    for region in op.regions:
        if not len(region.blocks):
            ends.append(state)
            continue
        block = region.blocks[0]
        end = _block(block, state, visit)
        ends.append(end.handed_on(_pairs(last_of(block).operands, op.results), block))
    return ends[0].joined(ends[1])


def _conditional(op: ir.OpView, state: Flight, visit: Visit | None) -> Flight:
    before, after = (region.blocks[0] for region in op.regions)
    passed, yielded = list(last_of(before).operands)[1:], list(last_of(after).operands)

    def back(state: Flight, visit: Visit | None = None) -> Flight:
        middle = _block(before, state, visit).handed_on(_pairs(passed, after.arguments), before)
        end = _block(after, middle, visit)
        return end.handed_on(_pairs(yielded, before.arguments), after)

    head = _fixed(state.handed_on(_pairs(op.operands, before.arguments)), back)
    if visit is not None:
        back(head, visit)
    return _block(before, head, None).handed_on(_pairs(passed, op.results), before)


def _pairs(values: Iterable[Value], names: Iterable[Value]) -> list[tuple[Value, Value]]:
    """Fragments of a warpgroup, and what they are called next."""
    both = zip(values, names, strict=True)
    return [(value, name) for value, name in both if warpgroup_tile(value.type) is not None]
