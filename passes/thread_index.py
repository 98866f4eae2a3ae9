"""The thread's place in its CTA, computed once at the top of a kernel."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from tilec.ir.mlir import ir

from .emit import create, index_constant
from .functions import block_size


class ThreadIndex:
    """Thread, lane and warp numbers of one function, emitted at its top when first asked for.

    Attributes:
        function: the function.
    """

    def __init__(self, function: Any) -> None:
        self.function = function
        self._top = function.regions[0].blocks[0].operations[0]

    def at_top(self) -> Any:
        """The insertion point behind what is at the top so far."""
        return ir.InsertionPoint(self._top)

    @cached_property
    def thread(self) -> Any:
        """The linear thread number, x fastest, of type index."""
        index = ir.IndexType.get()
        size = block_size(self.function)
        with self.at_top(), ir.Location.unknown():
            number = _gpu("thread_id", "x")
            below: Any = None
            for axis, dimension in enumerate("yz", start=1):
                if size is not None and size[axis] == 1:
                    continue
                inner = (
                    index_constant(size[axis - 1])
                    if size is not None
                    else _gpu("block_dim", "xy"[axis - 1])
                )
                below = inner if below is None else create("arith.muli", [below, inner], index)
                along = create("arith.muli", [_gpu("thread_id", dimension), below], index)
                number = create("arith.addi", [number, along], index)
            return number

    @cached_property
    def lane(self) -> Any:
        """The lane within the warp, of type index."""
        thread = self.thread
        with self.at_top(), ir.Location.unknown():
            return create("arith.andi", [thread, index_constant(31)], ir.IndexType.get())

    @cached_property
    def warp(self) -> Any:
        """The warp within the CTA, of type index."""
        thread = self.thread
        with self.at_top(), ir.Location.unknown():
            return create("arith.shrui", [thread, index_constant(5)], ir.IndexType.get())


def _gpu(name: str, dimension: str) -> Any:
    return create(
        f"gpu.{name}",
        [],
        ir.IndexType.get(),
        dimension=ir.Attribute.parse(f"#gpu<dim {dimension}>"),
    )
