"""A loop turned by a product: the first of a round is in flight with the second of the one before.

first 0, compute 0                        the first round but for its second product
for rounds 1 …:
start first n, start second n - 1
wait for first n, compute n           while second n - 1 goes on
wait for second n - 1, rescale
second of the last round
"""

from __future__ import annotations

from collections.abc import Sequence

from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import WarpgroupDotOp, WarpgroupStartOp, WarpgroupWaitOp
from tilec.ir.aliases import Op, Value

from ..staging.loop_stages import make_anew
from .chained_products import ChainedProducts
from .peeled_loops import Known, PeeledLoop


class RotatedLoop(PeeledLoop):
    """The rewriting of one loop.

    Args:
        loop: the `scf.for`.
        chain: the products of its body.
    """

    def __init__(self, loop: Op, chain: ChainedProducts) -> None:
        super().__init__(loop, {chain.carried})
        self._chain = chain
        self._held = [chain.second.dot.c, chain.second.dot.a, *chain.roots]

    def _first(self, known: Known) -> None:
        chain = self._chain
        make_anew(
            [*chain.before, chain.first.dot.operation, *chain.between, *chain.rescaling], known
        )

    def _last(self, results: list[Value]) -> list[Value]:
        others, last = self._parted(results)
        self._find_stage(last)
        make_anew(self._chain.second.ops, last)
        others.insert(self._chain.carried, last[self._chain.second.dot.d])
        return others

    def _round(self, counter: Value, arguments: Sequence[Value]) -> list[Value]:
        chain = self._chain
        given, before = self._parted(arguments)
        known: Known = dict(zip(self._kept(self._arguments), given, strict=True))
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
        values = [*self._kept(self._passed), *self._held]
        return [known.get(value, value) for value in values]

    def _parted(self, values: Sequence[Value]) -> tuple[list[Value], Known]:
        """What is carried as before, and what the second product of the round before takes."""
        count = len(self._passed) - 1
        return list(values[:count]), dict(zip(self._held, values[count:], strict=True))

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
