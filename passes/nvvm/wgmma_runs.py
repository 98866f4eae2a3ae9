"""Consecutive `wgmma`s on one accumulator, from the fence to the wait, as one inline assembly.

LLVM takes an accumulator apart and puts it together again around each assembly, up to 128 registers
twice, only to find that they stay where they are: most of its time for a kernel of products.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tilec.dialects.semantics import is_movable
from tilec.dialects.tile.ops.wgmma import (
    OrderingOp,
    WgmmaCommitOp,
    WgmmaFenceOp,
    WgmmaProduct,
    WgmmaWaitOp,
)
from tilec.ir.aliases import Block, Op, Value
from tilec.isa.llvm import Call
from tilec.isa.llvm import Value as Register

from ..layouts.layout_types import has_one_use


class Step(NamedTuple):
    """An instruction of a run.

    Attributes:
        call: what executes it; of one without registers only the text.
        arguments: a value, or the number that it must be, of each of the call's arguments.
    """

    call: Call
    arguments: Sequence[Value | int]


class Run:
    """Ops of one place in the source, which only ops that compute something stand between.

    Args:
        first: the fence, or a product without one.

    Attributes:
        ops: a fence or none, products, then a commit or none, and a wait or none.
        steps: the instructions of those that were lowered.
    """

    def __init__(self, first: Op) -> None:
        self.ops = [first]
        self.steps: list[Step] = []

    @property
    def end(self) -> Op:
        """The last product, where the assembly is emitted."""
        return next(op for op in reversed(self.ops) if isinstance(op, WgmmaProduct))

    @property
    def ending(self) -> Iterator[OrderingOp]:
        """The commit and the wait."""
        after = self.ops[self.ops.index(self.end) + 1 :]
        return (op for op in after if isinstance(op, OrderingOp))

    def takes(self, op: Op) -> bool:
        """Append an op, if it goes on with what is here."""
        last = self.ops[-1]
        if op.location != last.location or isinstance(last, WgmmaWaitOp):
            return False
        if isinstance(op, WgmmaCommitOp):
            goes_on = isinstance(last, WgmmaProduct)
        else:
            goes_on = self._is_next(op, last)
        if goes_on:
            self.ops.append(op)
        return goes_on

    def _is_next(self, op: Op, last: Op) -> bool:
        """Whether an op takes the accumulator, which nobody else does."""
        if isinstance(op, WgmmaProduct) and not isinstance(last, WgmmaCommitOp):
            taken = op.operands[2]
        elif isinstance(op, WgmmaWaitOp) and len(op.operands) == 1:
            last, taken = self.end, op.operands[0]
        else:
            return False
        given = last.results[0]
        return bool(taken == given) and has_one_use(given)

    def call(self, accumulator: Sequence[Register]) -> tuple[Call, list[Value]]:
        """The assembly, and what it takes besides the accumulator, which comes last.

        Args:
            accumulator: its registers.
        """
        texts, taken = [], _Taken(len(accumulator))
        for step in self.steps:
            texts.append(taken.text(step))
        count = len(accumulator)
        tied = [Register("c", one.type, tied=at) for at, one in enumerate(accumulator)]
        kinds = [f"=&{letter}" for letter in _letters(self.steps, count)]
        constraints = [*kinds, *taken.constraints, *map(str, range(count)), "~{memory}"]
        arguments = (*taken.registers, *tied)
        whole = Call(None, "\n\t".join(texts), ",".join(constraints), arguments, (*accumulator,))
        return whole, taken.values


def runs_of(block: Block) -> Mapping[Op, Run]:
    """The runs of two and more instructions in a block, by each of their ops."""
    found: list[Run] = []
    last: Run | None = None
    for op in block.operations:
        if last is not None and last.takes(op):
            continue
        if isinstance(op, WgmmaProduct) or (isinstance(op, WgmmaFenceOp) and len(op.operands) == 1):
            last = Run(op)
            found.append(last)
        elif last is not None and not is_movable(op):
            last = None
    return {op: run for run in found if _is_worth_it(run) for op in run.ops}


def _is_worth_it(run: Run) -> bool:
    return len(run.ops) > 1 and any(isinstance(op, WgmmaProduct) for op in run.ops)


class _Taken:
    """What the assembly of a run takes, each value once, numbered after its results.

    Args:
        results: how many it has.
    """

    def __init__(self, results: int) -> None:
        self._results = results
        self._numbers: dict[Value, int] = {}
        self.values: list[Value] = []
        self.registers: list[Register] = []
        self.constraints: list[str] = []

    def text(self, step: Step) -> str:
        """An instruction with the numbers that its registers have here."""
        call = step.call
        places = [f"${at}" for at in range(self._results)]
        constraints = call.constraints.split(",")[len(call.results) :]
        for value, register, constraint in zip(
            step.arguments, call.arguments, constraints, strict=False
        ):
            if register.tied is not None:
                places.append("")  # in a result's register
            elif isinstance(value, int):
                places.append(str(value))
            else:
                places.append(self._place(value, register, constraint))
        return re.sub(r"\$(\d+)", lambda found: places[int(found[1])], call.assembly)

    def _place(self, value: Value, register: Register, constraint: str) -> str:
        number = self._numbers.get(value)
        if number is None:
            number = self._numbers[value] = self._results + len(self.values)
            self.values.append(value)
            self.registers.append(register)
            self.constraints.append(constraint)
        return f"${number}"


def _letters(steps: Sequence[Step], count: int) -> list[str]:
    """The kinds of the accumulator's registers, as the products name them."""
    product = next(step.call for step in steps if step.call.results)
    return [one.removeprefix("=") for one in product.constraints.split(",")[:count]]
