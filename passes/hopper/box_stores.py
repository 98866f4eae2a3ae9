"""Tiles that leave by TMA: through panels in shared memory, boxes of which one thread stores."""

from __future__ import annotations

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import AllocSharedOp, StoreOp, TmaStoreOp
from tilec.dialects.tile.tiles import TileValue, bits_of
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, nvvm, scf
from tilec.ir.ops.arith import CmpI
from tilec.ir.types import memref_of
from tilec.isa import TilecError
from tilec.isa.limits import MAP_ALIGNMENT

from ..analysis.contiguity import not_negative
from ..analysis.memory_facts import memory_facts
from ..emit import index_constant
from .box_copies import panel_boxes, why_no_map
from .operand_buffers import OperandBuffer, operand_buffer
from .turns import thread_in_turn

HALF = 16
"""Bits of elements that matrix instructions store."""
WORD = 32
"""Bits of elements that threads store themselves, as accumulators of warpgroups hold them."""


def why_no_box_store(store: StoreOp, tile: TileValue, function: Op) -> str:
    """Why a tile does not leave by boxes; empty if it may.

    A box must not end within 16 bytes of a row, which it would be stored to the end of, nor begin
    at negative places.
    """
    type_ = memref_of(store.memref)
    bits = bits_of(tile.element)
    size = bits // 8
    if bits not in (HALF, WORD) or store.is_transposed or len(tile.shape) != 2:
        return "its elements are not of 16 or 32 bits, row by row"
    if bits == WORD and not has_pairs(tile):
        return "threads do not hold pairs of neighbouring elements, as after wgmma"
    warps = tile.layout.bases.get("warp", [])
    if any(image[1] for image in warps) and not has_chunks(tile):
        return "several warps hold parts of each row"
    why = why_no_map(store.memref, function)
    if why:
        return why
    if memory_facts(store.memref).sizes[type_.rank - 1] * size % MAP_ALIGNMENT:
        return "rows are not known to be multiples of 16 bytes long (tile.sizes may guarantee it)"
    if not all(map(not_negative, store.indices)):
        return "it is not known that indices are not negative"
    return ""


def has_chunks(tile: TileValue) -> bool:
    """Whether each thread holds whole 16 bytes of rows in consecutive registers."""
    count = (MAP_ALIGNMENT * 8 // bits_of(tile.element)).bit_length() - 1
    chunk = [(0, 1 << bit) for bit in range(count)]
    return [tuple(image) for image in tile.layout.bases.get("register", [])[:count]] == chunk


def has_pairs(tile: TileValue) -> bool:
    """Whether threads hold two neighbours of a row, and four of them eight, as of a wgmma's sum.

    Threads that hold whole rows, as after loads from tensor memory, would all store to one bank.
    """
    bases = tile.layout.bases
    held = [tuple(image) for image in (*bases["register"][:1], *bases["lane"])]
    return held == [(0, 1), (0, 2), (0, 4), (1, 0), (2, 0), (4, 0)]


def panels_of(tile: TileValue) -> OperandBuffer | None:
    """The panels that a tile goes through; None if its rows are not lines of a swizzle."""
    try:
        return operand_buffer("a", tile.shape, bits_of(tile.element), False)
    except TilecError:
        return None


def store_boxes(
    store: StoreOp,
    tile: TileValue,
    kind: OperandBuffer,
    form: str | None,
    function: Op,
    tiles: Op | None = None,
) -> None:
    """Replace a store by one to shared memory and copies of boxes from there.

    Args:
        store: of a tile to global memory.
        tile: the tile.
        kind: the panels that it goes through.
        form: the matrix instruction that stores it to them; None for stores of 16 bytes.
        function: the kernel.
        tiles: the loop over tiles that it stands in, if the copies may go on beside what the next
            tile takes: the panels are written again when they are done.
    """
    panels, lines, width = kind.shape
    space = SharedAttr.get(ir.StringAttr.get(kind.swizzle))
    type_ = ir.MemRefType.get([panels, lines, width], tile.element, memory_space=space)
    with ir.InsertionPoint(function.regions[0].blocks[0].operations[0]), store.location:
        buffer = emit(AllocSharedOp, [], type_)
    with ir.InsertionPoint(store), store.location:
        zero = index_constant(0)
        # Whoever still reads what was there must be done first.
        if tiles is not None:
            _await_copies(function)
        gpu.barrier()
        operands = [store.tile, buffer, zero, zero, zero]
        if form is None:
            emit_effect(StoreOp, operands)
        else:
            emit_effect(StoreOp, operands, form=ir.StringAttr.get(form))
        nvvm.fence_proxy_async_shared()
        gpu.barrier()
        with scf.if_(arith.cmpi(CmpI.EQ, thread_in_turn(function), zero)):
            for box in panel_boxes(panels, lines, width, list(store.indices)):
                operands = [buffer, store.memref, *box.origin, *box.place]
                emit_effect(TmaStoreOp, operands, shape=box.shape)
            nvvm.cp_async_bulk_commit_group()
            if tiles is None:
                nvvm.cp_async_bulk_wait_group(0)
    if tiles is not None:
        with ir.InsertionPoint.after(tiles.operation), store.location:
            _await_copies(function)
    store.operation.erase()


def _await_copies(function: Op) -> None:
    """Let the thread that stores boxes wait for them."""
    with scf.if_(arith.cmpi(CmpI.EQ, thread_in_turn(function), index_constant(0))):
        nvvm.cp_async_bulk_wait_group(0)
