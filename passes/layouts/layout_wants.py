"""The layouts that ops ask for: products those of their fragments, accesses wide ones."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from math import prod

from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops.dots import dot_form, dot_values
from tilec.dialects.tile.ops.memory import MemoryOp, vector_of
from tilec.dialects.tile.ops.warpgroup_dot import WarpgroupProduct
from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import PlainTile, TileValue, bits_of
from tilec.ir.aliases import Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.ir.types import strides_and_offset
from tilec.isa import LANES, TilecError
from tilec.layout import LinearLayout
from tilec.layout.blocked import blocked_tile
from tilec.layout.extents import unit_extents
from tilec.layout.tiling import operand_tile

ACCESS_BITS = 128
"""The widest access of a thread."""

_operand_tile = cache(operand_tile)


def tile_operands(dot: ir.OpView) -> dict[str, int]:
    """By name the numbers of the operands of a product that are tiles."""
    if isinstance(dot, WarpgroupProduct):
        return dot.tiles()
    return {name: number for number, name in enumerate(DOTS[dot.operation.name].operands)}


def dot_tiles(dot: ir.OpView) -> dict[str, Value]:
    """The tiles that a product takes, and its result `d`, by name."""
    operands = list(dot.operands)
    taken = {name: operands[number] for name, number in tile_operands(dot).items()}
    return {**taken, "d": dot.results[0]}


def dot_layouts(dot: ir.OpView, warps: int) -> dict[str, LinearLayout]:
    """The layouts of the operands of a `tile.dot`, or one of its kin, and of its result `d`.

    Args:
        dot: a product that says its form and the grid of its warps.
        warps: of the CTA.

    Raises:
        TilecError: if it does not say them, the grid is not of all warps, or fragments do not
            fit the tiles.
    """
    if isinstance(dot, WarpgroupProduct):
        return {name: dot.layout(name, *_extents(value)) for name, value in dot_tiles(dot).items()}
    form = dot_form(dot)
    if "warps" not in dot.attributes:
        raise TilecError("takes an attribute warps, as tile-select-mma leaves it")
    along_m, along_n = attribute(dot, "warps", ir.DenseI64ArrayAttr)
    if along_m * along_n != warps:
        raise TilecError(f"warps {along_m}x{along_n} are not the {warps} of the kernel")
    return {
        name: _operand_tile(form, name, *_extents(value), (along_m, along_n))
        for name, value in dot_values(dot).items()
    }


def _extents(value: Value) -> tuple[int, int]:
    rows, cols = ir.RankedTensorType(value.type).shape
    return rows, cols


def memory_layout(
    tile: PlainTile, accesses: Collection[MemoryOp], warps: int, together: Collection[int]
) -> LinearLayout:
    """A layout under which accesses are wide and consecutive lanes touch consecutive memory.

    Args:
        tile: what is moved.
        accesses: loads, stores and atomics of such tiles; the first decides which axis is
            contiguous.
        warps: of the CTA.
        together: axes that are reduced.
    """
    bits = bits_of(tile.element)
    fastest = next((contiguous_axis(op, len(tile.shape)) for op in accesses), len(tile.shape) - 1)
    vector = max([1, *(_vector(op, bits) for op in accesses)])
    unit = unit_extents(tile.shape)
    share = prod(unit) // (LANES * warps)
    vector = min(vector, max(share, 1), ACCESS_BITS // bits)
    if bits < 8:
        vector = max(vector, 8 // bits)
    vector = min(vector, unit[fastest])
    return blocked_tile(unit, vector, warps, fastest=fastest, together=frozenset(together))


def legal_layout(op: MemoryOp, tile: PlainTile | TileValue, layout: LinearLayout) -> bool:
    """Whether an access moves a tile under a layout: elements that share a byte stay together."""
    value = TileValue(tile.shape, tile.element, layout, is_fragment=False)
    try:
        stored_tile(value, transposed=op.is_transposed)
    except TilecError:
        return False
    return True


def _vector(op: MemoryOp, bits: int) -> int:
    """Elements of the tile that an access may move at once, as far as is known."""
    if op.update is not None:  # which each element is for itself
        return 1
    return vector_of(op) * max(1, 8 // bits)


def contiguous_axis(op: MemoryOp, rank: int) -> int:
    """The tile's axis that is contiguous in the memory that an access touches."""
    strides, _ = strides_and_offset(ir.MemRefType(op.memref.type))
    own = list(strides)[-rank:]
    axis = next((at for at in reversed(range(rank)) if own[at] == 1), rank - 1)
    if op.is_transposed and axis >= rank - 2:
        return 2 * rank - 3 - axis  # the last two change places
    return axis
