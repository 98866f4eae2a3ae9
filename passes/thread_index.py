"""The thread's place in its CTA, computed once at the top of a kernel."""

from __future__ import annotations

from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu
from tilec.ir.ops.gpu import Dimension
from tilec.isa import WARPGROUP_THREADS
from tilec.isa.lazy import cached_property

from .emit import index_constant
from .functions import block_size
from .hopper.turns import turn_number, turns_of

AMONG = "thread % "
"""How the number of a thread among a power of two begins."""


class ThreadIndex:
    """Thread, lane and warp numbers of one function, emitted at its top when first asked for.

    Attributes:
        function: the function.
    """

    def __init__(self, function: Op) -> None:
        self.function = function
        self._top = function.regions[0].blocks[0].operations[0]

    def at_top(self) -> ir.InsertionPoint:
        """The insertion point after what is at the top so far."""
        return ir.InsertionPoint(self._top)

    def number(self, dim: str) -> Value:
        """The `thread`, `lane` or `warp` number, or the thread's among so many: `thread % 64`.

        Raises:
            KeyError: for any other name.
        """
        match dim:
            case "thread":
                return self.place
            case "lane":
                return self.lane
            case "warp":
                return self.warp
        if dim.startswith(AMONG):
            return self._among(int(dim.removeprefix(AMONG)))
        raise KeyError(dim)

    def _among(self, count: int) -> Value:
        """The number among so many threads, a power of two, the first's a multiple of that."""
        thread = self.place
        with self.at_top(), ir.Location.unknown():
            return arith.andi(thread, index_constant(count - 1))

    @cached_property
    def thread(self) -> Value:
        """The linear thread number, x fastest, of type index."""
        size = block_size(self.function)
        with self.at_top(), ir.Location.unknown():
            number: Value = gpu.thread_id(Dimension.X)
            below: Value | None = None
            for axis, (before, dimension) in enumerate(
                ((Dimension.X, Dimension.Y), (Dimension.Y, Dimension.Z)), start=1
            ):
                if size is not None and size[axis] == 1:
                    continue
                inner = (
                    index_constant(size[axis - 1]) if size is not None else gpu.block_dim(before)
                )
                below = inner if below is None else arith.muli(below, inner)
                number = arith.addi(number, arith.muli(gpu.thread_id(dimension), below))
            return number

    @cached_property
    def place(self) -> Value:
        """The number among the threads that share tiles, of type index: in turns, a warpgroup."""
        if turns_of(self.function) == 1:
            return self.thread
        thread = self.thread
        with self.at_top(), ir.Location.unknown():
            return arith.andi(thread, index_constant(WARPGROUP_THREADS - 1))

    @cached_property
    def turn(self) -> Value:
        """The number of the warpgroup among those that take tiles in turn, of type index."""
        thread = self.thread
        with self.at_top(), ir.Location.unknown():
            return turn_number(thread)

    @cached_property
    def lane(self) -> Value:
        """The lane within the warp, of type index."""
        thread = self.thread
        with self.at_top(), ir.Location.unknown():
            return arith.andi(thread, index_constant(31))

    @cached_property
    def warp(self) -> Value:
        """The warp among those that share tiles, of type index."""
        thread = self.place
        with self.at_top(), ir.Location.unknown():
            return arith.shrui(thread, index_constant(5))
