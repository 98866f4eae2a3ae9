"""How a tile is copied from global to shared memory: its shape there, and how wide."""

from __future__ import annotations

from tilec.dialects.tile.ops import LoadOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import bits_of, tile_value
from tilec.ir.mlir import ir
from tilec.ir.types import element_of
from tilec.isa import Target

from ..analysis.async_copies import asynchronous_bytes
from ..analysis.contiguity import ACCESS_BYTES, contiguous, together
from ..analysis.multiples import multiple_of


def memory_shape(load: LoadOp) -> tuple[int, int]:
    """Rows and columns of a load's tile as memory holds them."""
    transposed = "transposed" in load.attributes
    tile = tile_value(load.tile.type)
    if tile is None:  # of level 1: elements of whole bytes
        rows, cols = ir.RankedTensorType(load.tile.type).shape
        return (cols, rows) if transposed else (rows, cols)
    shape = stored_tile(tile, transposed=transposed).shape
    rows, cols = reversed(shape) if transposed else shape
    return rows, cols


def copy_vector(load: LoadOp, target: Target | None) -> int:
    """Elements that a copy of what `load` takes may move at once.

    `cp.async` is exact to the element, so that only alignment counts. Where there is none, or
    alignment is too little for it, a masked copy moves what is inside or outside together.

    Args:
        load: from global memory.
        target: what the kernel is for.
    """
    memref, indices = load.source, load.indices
    size = bits_of(element_of(memref.type)) // 8
    promised = vector_of(load)
    _, cols = memory_shape(load)
    most = min(multiple_of(indices[-1]), cols, ACCESS_BYTES // size)
    vector = min(max(promised, contiguous(memref)), most)
    if "masked" in load.attributes and not asynchronous_bytes(vector * size, target):
        vector = min(max(promised, min(contiguous(memref), together(memref))), most)
    return vector


def copied_async(load: LoadOp, target: Target | None) -> bool:
    """Whether what a load takes can be copied by `cp.async`."""
    size = bits_of(element_of(load.source.type)) // 8
    return asynchronous_bytes(copy_vector(load, target) * size, target)
