"""Rewriting a loop so that its copies run some rounds ahead of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tilec.mlir import dialect, ir

from .emit import add, add_constant, constant_of, create, index_constant
from .staged_copies import StagedCopy
from .staging_groups import in_loop


class Multistage:
    """The rewriting of one loop.

    Stage `read` holds this round's tiles. Before a round, all threads wait for their own copies
    to it and then for each other: so every copy has arrived, and nobody reads the stage of the
    round before any more, to which the copies of `stages - 1` rounds ahead go.

    Args:
        loop: the `scf.for`.
        copies: those of its body that move.
        stages: buffers, two or more.
    """

    def __init__(self, loop: Any, copies: list[StagedCopy], stages: int) -> None:
        self._loop = loop.operation
        self._copies = copies
        self._stages = stages
        self._lower, self._upper, self._step = list(self._loop.operands)[:3]
        block = self._loop.regions[0].blocks[0]
        self._counter = block.arguments[0]
        self._buffers: dict[Any, Any] = {}

    def run(self, frames: Iterable[Any]) -> None:
        """Rewrite the loop.

        Args:
            frames: ops of the body that nothing needs any more.
        """
        for copy in self._copies:
            self._enlarge(copy)
        with ir.InsertionPoint(self._loop):
            self._prologue()
            start = [index_constant(0), index_constant(self._stages - 1)]
        block, (read, write) = self._carry(start)
        for op in frames:
            op.erase()
        with ir.InsertionPoint.at_block_begin(block):
            self._wait()
            ahead = add(self._counter, self._times(self._stages - 1))
            self._begin(ahead, write)
        self._reload(read)
        end = block.operations[len(block.operations) - 1].operation
        with ir.InsertionPoint(end):
            values = [*end.operands, self._following(read), read]
            ir.Operation.create("scf.yield", operands=values)
        end.erase()
        for copy in self._copies:
            self._erase(copy)

    def _enlarge(self, copy: StagedCopy) -> None:
        """A buffer of as many matrices as there are stages."""
        type_ = copy.alloc.results[0].type
        many = ir.MemRefType.get(
            [self._stages, *type_.shape], type_.element_type, memory_space=type_.memory_space
        )
        with ir.InsertionPoint(copy.alloc), copy.alloc.location:
            self._buffers[copy.alloc] = create("tile.alloc_shared", [], many)

    def _prologue(self) -> None:
        """The copies of the first rounds. A group may be empty, so that groups count rounds."""
        if in_loop(self._loop):
            # An outer loop comes here again while others may still read what they need.
            ir.Operation.create("gpu.barrier")
        for stage in range(self._stages - 1):
            at = add(self._lower, self._times(stage)) if stage else self._lower
            self._begin(at, index_constant(stage))

    def _times(self, count: int) -> Any:
        """`count` steps of the loop."""
        step = constant_of(self._step)
        if step is not None:
            return index_constant(step * count)
        index = ir.IndexType.get()
        return create("arith.muli", [self._step, index_constant(count)], index)

    def _begin(self, counter: Any, stage: Any) -> None:
        """The copies of the round whose counter is this, if there is one, and their commit."""
        arith, scf = dialect("arith"), dialect("scf")
        bounds = constant_of(counter), constant_of(self._upper)
        if bounds[0] is not None and bounds[1] is not None and bounds[0] < bounds[1]:
            self._copy(counter, stage)
        else:
            there = arith.cmpi(arith.CmpIPredicate.slt, counter, self._upper)
            with ir.InsertionPoint(scf.IfOp(there).then_block):
                self._copy(counter, stage)
                scf.YieldOp([])
        ir.Operation.create("tile.async_commit")

    def _copy(self, counter: Any, stage: Any) -> None:
        """The copies, their indices computed anew."""
        known = {self._counter: counter}
        for copy in self._copies:
            for op in copy.needs:
                if any(result in known for result in op.results):
                    continue
                clone = op.clone()
                _rewire(clone, known)
                known |= zip(op.results, clone.results, strict=True)
            source, _, *indices = copy.copy.operands
            rank = source.type.rank
            operands = [source, self._buffers[copy.alloc], *indices[:rank], stage, *indices[rank:]]
            ir.Operation.create(
                "tile.async_copy",
                operands=[known.get(o, o) for o in operands],
                attributes={name: copy.copy.attributes[name] for name in copy.copy.attributes},
                loc=copy.copy.location,
            )

    def _wait(self) -> None:
        """All but the latest groups have arrived: what this round needs is there."""
        i64 = ir.IntegerType.get_signless(64)
        pending = ir.IntegerAttr.get(i64, self._stages - 2)
        ir.Operation.create("tile.async_wait", attributes={"pending": pending})
        ir.Operation.create("gpu.barrier")

    def _following(self, read: Any) -> Any:
        """The stage after this, in a circle."""
        arith = dialect("arith")
        following = add_constant(read, 1)
        wraps = arith.cmpi(arith.CmpIPredicate.eq, following, index_constant(self._stages))
        operands = [wraps, index_constant(0), following]
        return create("arith.select", operands, ir.IndexType.get())

    def _carry(self, start: list[Any]) -> tuple[Any, list[Any]]:
        """Let the loop carry more values; its block, and the arguments that hold them."""
        old = self._loop
        new = ir.Operation.create(
            "scf.for",
            results=[*(r.type for r in old.results), *(v.type for v in start)],
            operands=[*old.operands, *start],
            attributes={name: old.attributes[name] for name in old.attributes},
            regions=1,
            loc=old.location,
            ip=ir.InsertionPoint(old),
        )
        old.regions[0].blocks[0].append_to(new.regions[0])
        block = new.regions[0].blocks[0]
        arguments = [block.add_argument(v.type, old.location) for v in start]
        for before, after in zip(old.results, new.results, strict=False):
            before.replace_all_uses_with(after)
        old.erase()
        return block, arguments

    def _reload(self, read: Any) -> None:
        """Load from this round's stage."""
        for copy in self._copies:
            for load in copy.loads:
                _, *indices = load.operands
                with ir.InsertionPoint(load), load.location:
                    loaded = create(
                        "tile.load",
                        [self._buffers[copy.alloc], read, *indices],
                        load.results[0].type,
                        **{name: load.attributes[name] for name in load.attributes},
                    )
                load.results[0].replace_all_uses_with(loaded)
                load.erase()

    @staticmethod
    def _erase(copy: StagedCopy) -> None:
        """Drop the copy and what only it used."""
        copy.copy.erase()
        for op in reversed(copy.needs):
            if all(next(iter(result.uses), None) is None for result in op.results):
                op.erase()
        copy.alloc.erase()


def _rewire(op: Any, known: dict[Any, Any]) -> None:
    """Let an op use the new values of those that are known."""
    for number, operand in enumerate(op.operands):
        if operand in known:
            op.operands[number] = known[operand]
