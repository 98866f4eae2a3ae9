"""A loop whose first round stands in front of it, so that rounds carry what is in flight."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Sequence

from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, scf
from tilec.ir.ops.arith import CmpI

from ..emit import add

Known = dict[Value, Value]
"""What values of the body are where it is made anew."""


class PeeledLoop(ABC):
    """The rewriting of one loop.

    Args:
        loop: the `scf.for`.
        replaced: numbers of the values that it carries in whose place others are carried.
    """

    def __init__(self, loop: Op, replaced: Collection[int]) -> None:
        self._loop = loop.operation
        self._replaced = replaced
        block = self._loop.regions[0].blocks[0]
        self._counter: Value = block.arguments[0]
        self._arguments: list[Value] = [*block.arguments][1:]
        operations = list(block.operations)
        self._passed: list[Value] = list(operations[-1].operation.operands)

    def run(self) -> None:
        """Rewrite it: its results are zero rounds' where there are none."""
        loop = self._loop
        lower, upper, _, *start = loop.operands
        with ir.InsertionPoint(loop), loop.location:
            there = arith.cmpi(CmpI.SLT, lower, upper)
            branch = scf.branch(there, [result.type for result in loop.results])
            with ir.InsertionPoint(branch.regions[0].blocks.append()):
                known: Known = dict(zip(self._arguments, start, strict=True))
                known[self._counter] = lower
                self._first(known)
                scf.yield_(self._last(self._others_of(lower, upper, known)))
            with ir.InsertionPoint(branch.regions[1].blocks.append()):
                scf.yield_(start)
        for old, new in zip(loop.results, branch.results, strict=True):
            old.replace_all_uses_with(new)
        loop.erase()

    def _others_of(self, lower: Value, upper: Value, known: Known) -> list[Value]:
        """The loop of the rounds but the first; what it carried in the end."""
        step, ended = self._loop.operands[2], self._decided()
        attributes = {n: self._loop.attributes[n] for n in self._loop.attributes if n not in ended}
        loop = scf.for_([add(lower, step), upper, step], self._ends(known), attributes)
        types = [ir.IndexType.get(), *(result.type for result in loop.results)]
        block = loop.regions[0].blocks.append(*types)
        counter, *arguments = block.arguments
        with ir.InsertionPoint(block):
            scf.yield_(self._round(counter, arguments))
        return list(loop.results)

    def _decided(self) -> Collection[str]:
        """Attributes that the loop has no more."""
        return ()

    @abstractmethod
    def _first(self, known: Known) -> None:
        """Make the first round, as far as it comes before the loop."""

    @abstractmethod
    def _round(self, counter: Value, arguments: Sequence[Value]) -> list[Value]:
        """A round: what the loop carries after it."""

    @abstractmethod
    def _ends(self, known: Known) -> list[Value]:
        """What is carried from a round on."""

    @abstractmethod
    def _last(self, results: list[Value]) -> list[Value]:
        """Make what is left of the last round: the results, from what the loop carried."""

    def _kept(self, values: Sequence[Value]) -> list[Value]:
        """Of values that the loop carried those that it still does."""
        return [value for at, value in enumerate(values) if at not in self._replaced]
