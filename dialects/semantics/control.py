"""Structured control flow: what decides the way, and which value becomes which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

from tilec.ir.mlir import ir


class ControlFlow(ABC):
    """What an op with regions does with its operands."""

    is_loop: bool
    """Whether what is inside may be executed more than once."""

    @abstractmethod
    def deciding(self, op: ir.Operation) -> list[ir.Value] | None:
        """The values that decide which regions are executed, and how often; None: no values do."""

    def counters(self, op: ir.Operation) -> list[ir.Value]:
        """The values that count how often a region was executed."""
        del op
        return []

    @abstractmethod
    def flows(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
        """Which value becomes which: an operand, or what a region ends with, and what takes it."""

    @abstractmethod
    def carried(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ...]]:
        """The groups of values of which one becomes another, by `flows`."""


class Counted(ControlFlow):
    """`scf.for`: lower bound, upper bound, step; the body's first argument counts."""

    is_loop = True
    BOUNDS = 3

    def deciding(self, op: ir.Operation) -> list[ir.Value]:
        """The bounds and the step."""
        return list(op.operands)[: self.BOUNDS]

    def counters(self, op: ir.Operation) -> list[ir.Value]:
        """The induction variable."""
        return [op.regions[0].blocks[0].arguments[0]]

    def flows(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
        """A start, or what a round yields, becomes the next round's argument, or a result."""
        for argument, yielded, start, result in self.carried(op):
            for target in (argument, result):
                yield start, target
                yield yielded, target

    def carried(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ...]]:
        """What each round hands to the next: argument, yielded, start, result."""
        body = op.regions[0].blocks[0]
        arguments = list(body.arguments)[1:]
        starts = list(op.operands)[self.BOUNDS :]
        yield from zip(arguments, last_of(body).operands, starts, op.results, strict=True)


class Branch(ControlFlow):
    """`scf.if`: a condition."""

    is_loop = False

    def deciding(self, op: ir.Operation) -> list[ir.Value]:
        """The condition."""
        return [op.operands[0]]

    def flows(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
        """What either side yields becomes the result."""
        for result, *yielded in self.carried(op):
            yield from ((value, result) for value in yielded)

    def carried(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ...]]:
        """A result, and what either side yields."""
        blocks = [region.blocks[0] for region in op.regions if len(region.blocks)]
        yield from zip(op.results, *(last_of(block).operands for block in blocks), strict=True)


class Conditional(ControlFlow):
    """`scf.while`: the first region ends with the condition and what it passes on."""

    is_loop = True

    def deciding(self, op: ir.Operation) -> list[ir.Value]:
        """The condition."""
        return [last_of(op.regions[0].blocks[0]).operands[0]]

    def flows(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
        """Starts and yields go into the first region; what that passes on goes everywhere else."""
        before, after = (region.blocks[0] for region in op.regions)
        for start, yielded, argument in zip(
            op.operands, last_of(after).operands, before.arguments, strict=True
        ):
            yield start, argument
            yield yielded, argument
        passed = list(last_of(before).operands)[1:]
        for value, argument, result in zip(passed, after.arguments, op.results, strict=True):
            yield value, argument
            yield value, result

    def carried(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ...]]:
        """What goes into the first region, and what that passes on."""
        before, after = (region.blocks[0] for region in op.regions)
        yield from zip(op.operands, before.arguments, last_of(after).operands, strict=True)
        passed = list(last_of(before).operands)[1:]
        yield from zip(passed, after.arguments, op.results, strict=True)


class Parallel(ControlFlow):
    """`scf.forall`, `scf.parallel`: each thread may take other rounds."""

    is_loop = True

    def deciding(self, op: ir.Operation) -> None:
        """No values do."""

    def counters(self, op: ir.Operation) -> list[ir.Value]:
        """The induction variables."""
        return list(op.regions[0].blocks[0].arguments)

    def flows(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ir.Value]]:
        """Nothing of which tilec knows."""
        del op
        yield from ()

    def carried(self, op: ir.Operation) -> Iterator[tuple[ir.Value, ...]]:
        """Nothing of which tilec knows."""
        del op
        yield from ()


def last_of(block: ir.Block) -> ir.Operation:
    """The terminator of a block."""
    operations = block.operations
    return operations[len(operations) - 1].operation
