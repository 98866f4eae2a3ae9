"""Rewriting a loop so that its asynchronous copies run some rounds ahead of it."""

from __future__ import annotations

from collections.abc import Iterable

from tilec.dialects.tile.emit import emit_effect, i64
from tilec.dialects.tile.ops import AsyncCommitOp, AsyncWaitOp
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import gpu

from ..analysis.places import outermost_loop
from ..emit import add, index_constant
from .loop_stages import LoopStages


class Multistage(LoopStages):
    """The rewriting of one loop.

    Stage `read` holds this round's tiles. Before a round, all threads wait for their own copies
    to it and then for each other: so every copy has arrived, and nobody reads the stage of the
    round before any more, to which the copies of `stages - 1` rounds ahead go.
    """

    def run(self, frames: Iterable[Op]) -> ir.Operation:
        """Rewrite the loop.

        Args:
            frames: ops of the body that nothing needs any more.

        Returns:
            The loop that there is now.
        """
        self.enlarge()
        with ir.InsertionPoint(self.loop):
            self._prologue()
            start = [index_constant(0), index_constant(self.stages - 1)]
        read, write = self.carry(start)
        with ir.InsertionPoint.at_block_begin(self.block):
            self._wait()
            self._begin(add(self.counter, self.times(self.stages - 1)), write)
        self.reload(read)
        self.pass_on(lambda: [self.following(read), read])
        self.erase(frames)
        return self.loop

    def _prologue(self) -> None:
        """The copies of the first rounds. A group may be empty, so that groups count rounds."""
        if outermost_loop(self.loop) is not None:
            # An outer loop comes here again while others may still read what they need.
            gpu.barrier()
        for stage in range(self.stages - 1):
            at = add(self.lower, self.times(stage)) if stage else self.lower
            self._begin(at, index_constant(stage))

    def _begin(self, counter: Value, stage: Value) -> None:
        """The copies of the round whose counter is this, if there is one, and their commit."""

        def copies() -> None:
            for copy in self.copies:
                self.copy_to(copy, counter, stage)

        self.if_there(counter, copies)
        emit_effect(AsyncCommitOp)

    def _wait(self) -> None:
        """All but the latest groups have arrived: what this round needs is there."""
        emit_effect(AsyncWaitOp, pending=i64(self.stages - 2))
        gpu.barrier()
