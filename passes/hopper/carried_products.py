"""A loop whose product goes on into the next round, which waits for it and releases its stage.

wait until 0 is full, product 0                the first round but for its wait and its release
for rounds n = 1 …:
wait until n is full, product n                goes on in the accumulator of n - 1
wait until only n is in flight, release n - 1
wait for the last, release it
"""

from __future__ import annotations

from tilec.dialects.tile.attributes import DEFER_WAIT
from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import WgmmaFenceOp, WgmmaWaitOp
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, scf
from tilec.ir.ops.arith import CmpI

from ..emit import add
from ..staging.loop_stages import make_anew
from .deferred_waits import DeferredWait

Known = dict[Value, Value]
"""What values of the body are where it is made anew."""


class CarriedProduct:
    """The rewriting of one loop.

    Args:
        loop: the `scf.for`.
        body: what it consists of.
    """

    def __init__(self, loop: Op, body: DeferredWait) -> None:
        self._loop = loop.operation
        self._body = body
        block = self._loop.regions[0].blocks[0]
        self._counter: Value = block.arguments[0]
        self._arguments: list[Value] = [*block.arguments][1:]
        operations = list(block.operations)
        self._passed = list(operations[-1].operation.operands)

    def run(self) -> None:
        """Rewrite it: its results are zero rounds' where there are none."""
        loop = self._loop
        lower, upper, _, *start = loop.operands
        with ir.InsertionPoint(loop), loop.location:
            there = arith.cmpi(CmpI.SLT, lower, upper)
            branch = scf.branch(there, [result.type for result in loop.results])
            with ir.InsertionPoint(branch.regions[0].blocks.append()):
                scf.yield_(self._rounds(lower, upper, start))
            with ir.InsertionPoint(branch.regions[1].blocks.append()):
                scf.yield_(start)
        for old, new in zip(loop.results, branch.results, strict=True):
            old.replace_all_uses_with(new)
        loop.erase()

    def _rounds(self, lower: Value, upper: Value, start: list[Value]) -> list[Value]:
        """What the loop gives that has a round."""
        body, step = self._body, self._loop.operands[2]
        known: Known = dict(zip(self._arguments, start, strict=True)) | {self._counter: lower}
        make_anew(body.first, known)
        names = set(self._loop.attributes) - {DEFER_WAIT}
        attributes = {name: self._loop.attributes[name] for name in names}
        loop = scf.for_([add(lower, step), upper, step], self._ends(known), attributes)
        types = [ir.IndexType.get(), *(result.type for result in loop.results)]
        block = loop.regions[0].blocks.append(*types)
        counter, *arguments = block.arguments
        with ir.InsertionPoint(block):
            scf.yield_(self._round(counter, arguments))
        sums, others, last = self._parted(list(loop.results))
        known = dict(zip(body.wait.operands, sums, strict=True))
        make_anew([body.wait, *body.parting], known)
        make_anew(body.releases, last)
        numbers = [at for at in range(len(self._passed)) if at not in body.carried]
        results = dict(zip(numbers, others, strict=True))
        results |= {at: known[self._passed[at]] for at in body.carried}
        return [results[at] for at in range(len(self._passed))]

    def _round(self, counter: Value, arguments: list[Value]) -> list[Value]:
        """A round: what the loop carries after it."""
        body = self._body
        sums, given, before = self._parted(arguments)
        known: Known = dict(zip(self._others(self._arguments), given, strict=True))
        known |= {self._counter: counter, **dict(zip(body.fence.results, sums, strict=True))}
        make_anew(body.before, known)
        with body.fence.location:  # orders nothing, as no thread touches them; ptxas wants it
            emit_effect(WgmmaFenceOp, [])
        make_anew(body.others, known)
        with body.wait.location:
            emit_effect(WgmmaWaitOp, [], pending=i64(1))
        make_anew(body.releases, before)
        return self._ends(known)

    def _ends(self, known: Known) -> list[Value]:
        """What is carried from a round on: accumulators in flight, the other values, its stage."""
        body = self._body
        values = [*body.wait.operands, *self._others(self._passed), *body.roots]
        return [known.get(value, value) for value in values]

    def _parted(self, values: list[Value]) -> tuple[list[Value], list[Value], Known]:
        """The three: of the last what the releases of the round before are computed from."""
        body = self._body
        sums, others = len(body.wait.operands), len(self._passed) - len(body.carried)
        held = dict(zip(body.roots, values[sums + others :], strict=True))
        return values[:sums], values[sums : sums + others], held

    def _others(self, values: list[Value]) -> list[Value]:
        """All but the parts of accumulators."""
        return [value for at, value in enumerate(values) if at not in self._body.carried]
