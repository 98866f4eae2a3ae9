"""`tile-infer-vectors`: how wide the accesses of tiles to global memory may be."""

from __future__ import annotations

from typing import ClassVar

from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.tiles import PlainTile, bits_of, plain_tile
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .analysis.contiguity import contiguous, in_bounds, together
from .analysis.effects import is_buffer
from .analysis.memory_facts import ANY, memory_facts
from .analysis.runs import run_of
from .kernel_pass import Kernel, KernelPass


class InferVectors(KernelPass):
    """Set `vector` on loads and stores of tiles without layouts, and drop unnecessary masks.

    In and out: level 1. `vector` is derived from strides, their divisibility, and alignment.
    These come from the memrefs' types and, for a kernel's arguments, from the attributes
    `tile.aligned = BYTES : i64`, `tile.sizes = array<i64: …>` and `tile.strides = array<i64:
    …>`, which give divisors of each dynamic size or stride. A masked access covers elements
    that are inside or outside together. `masked` is removed if the tile is known to be in
    bounds. If elements have individual offsets or conditions, an access covers neighbours that
    share them. An existing `vector` is kept.
    """

    name: ClassVar[str] = "tile-infer-vectors"

    def run(self, kernel: Kernel) -> None:
        """Annotate a kernel."""
        _check_arguments(kernel)
        if kernel.errors:
            return
        for op in kernel.named(MemoryOp):
            _annotate(op, kernel)


def _check_arguments(kernel: Kernel) -> None:
    """Report errors in what is said about the arguments."""
    for argument in kernel.arguments:
        if isinstance(argument.type, ir.MemRefType):
            try:
                memory_facts(argument)
            except TilecError as error:
                kernel.error(kernel.function, str(error), argument=argument.arg_number)


def _annotate(op: MemoryOp, kernel: Kernel) -> None:
    memref, indices = op.memref, op.indices
    tile = plain_tile(op.tile.type)
    if tile is None or is_buffer(memref):
        return
    shape = _in_memory(tile, transposed=op.is_transposed)
    attributes = op.operation.attributes
    if "masked" in attributes and not op.by_element and in_bounds(memref, indices, shape):
        del attributes["masked"]
        kernel.remark(op, f"lies inside {memref.type}: no mask")
    if "vector" in attributes:
        return
    vector = min(contiguous(memref), shape[-1] & -shape[-1])
    if "masked" in attributes:
        vector = min(vector, together(memref))
    vector = min(vector, _alike(op))
    if vector > 1:
        attributes["vector"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), vector)


def _alike(op: MemoryOp) -> int:
    """Elements in a row that go to consecutive places, and that a mask leaves in or out as one."""
    if len(op.indices) - 1 in op.along:
        return 1
    return min((run_of(tile) for tile in op.by_element), default=ANY)


def _in_memory(tile: PlainTile, *, transposed: bool) -> tuple[int, ...]:
    """The tile's extents as memory holds it, in elements of the memref."""
    *leading, row, col = (1, *tile.shape)
    shape = [*leading, col, row] if transposed else [*leading, row, col]
    shape[-1] = max(1, shape[-1] * bits_of(tile.element) // max(8, bits_of(tile.element)))
    return tuple(shape[-len(tile.shape) :])
