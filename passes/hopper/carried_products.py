"""A loop whose product goes on into the next round, which waits for it and releases its stage.

wait until 0 is full, product 0                the first round but for its wait and its release
for rounds n = 1 …:
wait until n is full, product n                goes on in the accumulator of n - 1
wait until only n is in flight, release n - 1
wait for the last, release it
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tilec.dialects.tile.attributes import DEFER_WAIT
from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import WgmmaFenceOp, WgmmaWaitOp
from tilec.ir.aliases import Op, Value

from ..staging.loop_stages import make_anew
from .deferred_waits import DeferredWait
from .peeled_loops import Known, PeeledLoop


class CarriedProduct(PeeledLoop):
    """The rewriting of one loop.

    Args:
        loop: the `scf.for`.
        body: what it consists of.
    """

    def __init__(self, loop: Op, body: DeferredWait) -> None:
        super().__init__(loop, body.carried)
        self._body = body

    def _decided(self) -> Collection[str]:
        return {DEFER_WAIT}

    def _first(self, known: Known) -> None:
        make_anew(self._body.first, known)

    def _last(self, results: list[Value]) -> list[Value]:
        body = self._body
        sums, others, last = self._parted(results)
        known = dict(zip(body.wait.operands, sums, strict=True))
        make_anew([body.wait, *body.parting], known)
        make_anew(body.releases, last)
        left = iter(others)
        return [
            known[value] if at in body.carried else next(left)
            for at, value in enumerate(self._passed)
        ]

    def _round(self, counter: Value, arguments: Sequence[Value]) -> list[Value]:
        body = self._body
        sums, given, before = self._parted(arguments)
        known: Known = dict(zip(self._kept(self._arguments), given, strict=True))
        known |= {self._counter: counter}
        known |= dict(zip(body.fence.results, sums, strict=True))
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
        values = [*body.wait.operands, *self._kept(self._passed), *body.roots]
        return [known.get(value, value) for value in values]

    def _parted(self, values: Sequence[Value]) -> tuple[Sequence[Value], Sequence[Value], Known]:
        """The three: of the last what the releases of the round before are computed from."""
        body = self._body
        sums, others = len(body.wait.operands), len(self._passed) - len(body.carried)
        held = dict(zip(body.roots, values[sums + others :], strict=True))
        return values[:sums], values[sums : sums + others], held
