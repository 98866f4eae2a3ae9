"""A loop turned by a product: the first of a round is in flight with the second of the one before.

first 0, compute 0                        the first round but for its second product
for rounds 1 …:
start first n, start second n - 1
wait for first n, compute n           while second n - 1 goes on
wait for second n - 1, rescale
second of the last round
"""

from __future__ import annotations

from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import WarpgroupDotOp, WarpgroupStartOp, WarpgroupWaitOp
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, scf
from tilec.ir.ops.arith import CmpI

from ..emit import add
from ..staging.loop_stages import make_anew
from .chained_products import ChainedProducts

Known = dict[Value, Value]
"""What values of the body are where it is made anew."""


class RotatedLoop:
    """The rewriting of one loop.

    Args:
        loop: the `scf.for`.
        chain: the products of its body.
    """

    def __init__(self, loop: Op, chain: ChainedProducts) -> None:
        self._loop = loop.operation
        self._chain = chain
        block = self._loop.regions[0].blocks[0]
        self._counter: Value = block.arguments[0]
        self._arguments: list[Value] = [*block.arguments][1:]
        operations = list(block.operations)
        self._passed = list(operations[-1].operation.operands)
        self._held = [chain.second.dot.c, chain.second.dot.a, *chain.roots]

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

    def _others(self, values: list[Value]) -> list[Value]:
        """All but the accumulator of what is carried."""
        return [value for number, value in enumerate(values) if number != self._chain.carried]

    def _rounds(self, lower: Value, upper: Value, start: list[Value]) -> list[Value]:
        """What the loop gives that has a round."""
        chain, step = self._chain, self._loop.operands[2]
        known: Known = dict(zip(self._arguments, start, strict=True)) | {self._counter: lower}
        make_anew(
            [*chain.before, chain.first.dot.operation, *chain.between, *chain.rescaling], known
        )
        attributes = {name: self._loop.attributes[name] for name in self._loop.attributes}
        loop = scf.for_([add(lower, step), upper, step], self._ends(known), attributes)
        types = [ir.IndexType.get(), *(result.type for result in loop.results)]
        block = loop.regions[0].blocks.append(*types)
        arguments: list[Value] = [*block.arguments]
        with ir.InsertionPoint(block):
            scf.yield_(self._round(arguments[0], arguments[1:]))
        results, last = self._parted(list(loop.results))
        self._find_stage(last)
        make_anew(chain.second.ops, last)
        results.insert(chain.carried, last[chain.second.dot.d])
        return results

    def _round(self, counter: Value, arguments: list[Value]) -> list[Value]:
        """A round: what the loop carries after it."""
        chain = self._chain
        given, before = self._parted(arguments)
        known: Known = dict(zip(self._others(self._arguments), given, strict=True))
        known[self._counter] = counter
        make_anew(chain.before, known)
        first = _start(chain.first.dot, known)
        self._find_stage(before)
        make_anew([chain.second.wait], before)
        second = _start(chain.second.dot, before)
        known[chain.first.dot.d] = _wait(first, 1)
        make_anew(chain.between, known)
        # ptxas moves what does not need the second behind the wait for it, but not behind a loop:
        # this one, for a phase that has ended, is of one round.
        make_anew([chain.second.wait], before)
        known[self._arguments[chain.carried]] = _wait(second, 0)
        make_anew([chain.second.release], before)
        make_anew(chain.rescaling, known)
        return self._ends(known)

    def _ends(self, known: Known) -> list[Value]:
        """What is carried from a round on: as before, and what its second product takes."""
        values = [*self._others(self._passed), *self._held]
        return [known.get(value, value) for value in values]

    def _parted(self, values: list[Value]) -> tuple[list[Value], Known]:
        """What is carried as before, and what the second product of the round before takes."""
        count = len(self._passed) - 1
        return values[:count], dict(zip(self._held, values[count:], strict=True))

    def _find_stage(self, known: Known) -> None:
        """Compute anew by which numbers the second product finds its stage."""
        make_anew(self._chain.scalars, known)


def _start(dot: WarpgroupDotOp, known: Known) -> Value:
    """A product, in flight."""
    operands = [known.get(value, value) for value in dot.operation.operands]
    attributes = {name: dot.attributes[name] for name in dot.attributes}
    with dot.location:
        return emit(WarpgroupStartOp, operands, dot.d.type, **attributes)


def _wait(started: Value, pending: int) -> Value:
    """Its result, where at most so many after it stay in flight."""
    return emit(WarpgroupWaitOp, [started], started.type, pending=i64(pending))
