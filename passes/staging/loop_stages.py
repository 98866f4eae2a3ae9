"""What rewritings of a loop whose tiles lie in several stages of a buffer have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AllocSharedOp, AsyncCopyOp
from tilec.dialects.tile.ops.warpgroup_dot import AwaitedProduct
from tilec.ir.aliases import Block, Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, scf
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import memref_of

from ..base import walk
from ..emit import add_constant, constant_of, index_constant
from .staged_copies import StagedCopy


class LoopStages:
    """The rewriting of one loop.

    Attributes:
        loop: the `scf.for`; another one once it carries more.
        copies: those of its body that move.
        stages: buffers, two or more.
        lower, upper, step: the loop's.
        counter: its induction variable.
        buffers: the new buffer of each old one.
    """

    def __init__(self, loop: Op, copies: list[StagedCopy], stages: int) -> None:
        self.loop = loop.operation
        self.copies = copies
        self.stages = stages
        self.lower, self.upper, self.step = list(self.loop.operands)[:3]
        self.counter = self.loop.regions[0].blocks[0].arguments[0]
        self.buffers: dict[Op, Value] = {}

    @property
    def block(self) -> Block:
        """The loop's body."""
        return self.loop.regions[0].blocks[0]

    def enlarge(self) -> None:
        """Make buffers of as many matrices as there are stages."""
        for copy in self.copies:
            type_ = memref_of(copy.alloc.results[0])
            many = ir.MemRefType.get(
                [self.stages, *type_.shape], type_.element_type, memory_space=type_.memory_space
            )
            with ir.InsertionPoint(copy.alloc), copy.alloc.location:
                self.buffers[copy.alloc] = emit(AllocSharedOp, [], many)

    def times(self, count: int) -> Value:
        """`count` steps of the loop."""
        step = constant_of(self.step)
        if step is not None:
            return index_constant(step * count)
        return arith.muli(self.step, index_constant(count))

    def there(self, counter: Value) -> Value | None:
        """Whether the loop has a round with this counter, an i1; None if it surely has."""
        first, end = constant_of(counter), constant_of(self.upper)
        if first is not None and end is not None and first < end:
            return None
        return arith.cmpi(CmpI.SLT, counter, self.upper)

    def if_there(self, counter: Value, emit: Callable[[], None]) -> None:
        """`emit` for the round with this counter, if there is one."""
        there = self.there(counter)
        with nullcontext() if there is None else scf.if_(there):
            emit()

    def operands_at(
        self, copy: StagedCopy, counter: Value, outside: Mapping[Value, Value] | None = None
    ) -> list[Value]:
        """The operands of a copy in another round, computed anew.

        Args:
            copy: the copy.
            counter: the round's.
            outside: what stands for values of loops around this.
        """
        known: dict[Value, Value] = {**(outside or {}), self.counter: counter}
        make_anew(copy.needs, known)
        return [known.get(o, o) for o in copy.copy.operands]

    def source_at(
        self, copy: StagedCopy, counter: Value, outside: Mapping[Value, Value] | None = None
    ) -> list[Value]:
        """The source of a copy and its indices there in another round, as of `operands_at`."""
        source, _, *indices = self.operands_at(copy, counter, outside)
        return [source, *indices[: memref_of(source).rank]]

    def copy_to(self, copy: StagedCopy, counter: Value, stage: Value) -> None:
        """The copy of another round, to its stage."""
        source, _, *indices = self.operands_at(copy, counter)
        at, to = indices[: memref_of(source).rank], indices[memref_of(source).rank :]
        emit_effect(
            AsyncCopyOp,
            [source, self.buffers[copy.alloc], *at, stage, *to],
            copy.copy.location,
            **{name: copy.copy.attributes[name] for name in copy.copy.attributes},
        )

    def following(self, stage: Value) -> Value:
        """The stage after this, in a circle."""
        following = add_constant(stage, 1)
        wraps = arith.cmpi(CmpI.EQ, following, index_constant(self.stages))
        return arith.select(wraps, index_constant(0), following)

    def carry(self, start: list[Value]) -> list[Value]:
        """Let the loop carry more values; the arguments of its body that hold them."""
        old = self.loop
        first, last, step, *before = old.operands
        attributes = {name: old.attributes[name] for name in old.attributes}
        with ir.InsertionPoint(old), old.location:
            self.loop = scf.for_([first, last, step], [*before, *start], attributes)
        old.regions[0].blocks[0].append_to(self.loop.regions[0])
        arguments: list[Value] = [self.block.add_argument(v.type, old.location) for v in start]
        for result, after in zip(old.results, self.loop.results, strict=False):
            result.replace_all_uses_with(after)
        old.erase()
        return arguments

    def at_end(self) -> ir.InsertionPoint:
        """The insertion point at the end of the body."""
        return ir.InsertionPoint(self._end())

    def pass_on(self, more: Callable[[], Iterable[Value]]) -> None:
        """Let the body end with the values that it had and `more()`."""
        end = self._end()
        with ir.InsertionPoint(end):
            scf.yield_([*end.operands, *more()])
        end.erase()

    def _end(self) -> ir.Operation:
        operations = self.block.operations
        return operations[len(operations) - 1].operation

    def reload(self, stage: Value) -> None:
        """Read from a stage of the new buffers what the body reads from the old ones."""
        for copy in self.copies:
            for load in {use.owner.operation: None for use in copy.alloc.results[0].uses}:
                if load != copy.copy:
                    with ir.InsertionPoint(load), load.location:
                        read_stage(load, copy.alloc.results[0], self.buffers[copy.alloc], stage)

    def erase(self, frames: Iterable[Op]) -> None:
        """Drop the old copies and buffers, what only they used, and ops of the body."""
        for op in frames:
            op.erase()
        for copy in self.copies:
            copy.copy.erase()
            for op in reversed(copy.needs):
                if all(next(iter(result.uses), None) is None for result in op.results):
                    op.erase()
            copy.alloc.erase()


def make_anew(ops: Iterable[ir.Operation], known: dict[Value, Value]) -> None:
    """Make ops anew of what is known, and know their results.

    Args:
        ops: the ops, in order.
        known: what stands for values that they and what they hold take.
    """
    for op in ops:
        clone = op.clone()
        for inner in (clone, *walk(clone)):
            operands = inner.operation.operands
            for number, operand in enumerate(operands):
                if operand in known:
                    operands[number] = known[operand]
        known |= zip(op.results, clone.results, strict=True)


def read_stage(reader: ir.Operation, old: Value, buffer: Value, stage: Value) -> None:
    """Replace what reads a buffer by what reads a stage of another.

    Args:
        reader: a `tile.load`, or a product of warpgroups.
        old: the buffer.
        buffer: one of as many such matrices as there are stages.
        stage: the number of the stage.
    """
    view, operands = reader.opview, list(reader.operands)
    if isinstance(view, AwaitedProduct):
        indices = []
        for name, number in view.memories().items():
            indices += [stage] * (operands[number] == old) + view.indices_of(name)
        given = [buffer if operand == old else operand for operand in operands[: view.FIXED]]
        operands = [*given, *indices]
    else:
        operands = [buffer, stage, *operands[1:]]
    made = ir.Operation.create(
        reader.name,
        results=[result.type for result in reader.results],
        operands=operands,
        attributes={name: reader.attributes[name] for name in reader.attributes},
    )
    reader.results[0].replace_all_uses_with(made.results[0])
    reader.erase()
