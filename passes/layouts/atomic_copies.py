"""What one warp found in memory, for all warps that hold copies of a tile."""

from __future__ import annotations

from tilec.dialects.tile.emit import emit, i64
from tilec.dialects.tile.ops import BroadcastOp, ExpandOp, ReduceOp
from tilec.dialects.tile.ops.atomic_rmw import FetchingOp
from tilec.dialects.tile.tiles import TileValue, bits_of, tensor_type
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import integer
from tilec.layout import LinearLayout
from tilec.layout.views import dims, expand

from .layout_types import layout_tile


def combine_copies(op: FetchingOp) -> None:
    """Give all warps that hold copies of an atomic op's tile what the first of them got.

    The others get zeros: the bits of all are joined.
    """
    tile = layout_tile(op.results[0])
    assert tile is not None
    copies = tile.layout.free("warp")
    if not copies:
        return
    op.operation.attributes["first_warps"] = ir.UnitAttr.get()
    uses = [(use.owner, use.operand_number) for use in op.results[0].uses]
    if not uses:
        return
    with ir.InsertionPoint.after(op), op.location:
        joined = _joined(op.results[0], tile, _apart(tile.layout, copies))
    for user, number in uses:
        user.operands[number] = joined


def _apart(layout: LinearLayout, copies: int) -> LinearLayout:
    """The layout of the copies as different elements, along a dimension before the others."""
    wide = expand(layout, 0)
    bases = {name: [list(image) for image in images] for name, images in wide.bases.items()}
    found = [bit for bit in range(len(bases["warp"])) if copies >> bit & 1]
    for number, bit in enumerate(found):
        bases["warp"][bit][0] = 1 << number
    extents = (1 << len(found), *layout.out_sizes.values())
    return LinearLayout.of(bases, dict(zip(dims(len(extents)), extents, strict=True)))


def _joined(value: Value, tile: TileValue, apart: LinearLayout) -> Value:
    bits: Type = integer(bits_of(tile.element))
    is_integer = isinstance(tile.element, ir.IntegerType)
    if not is_integer:
        value = arith.bitcast(value, tensor_type(tile.shape, bits, tile.layout))
    one = tensor_type((1, *tile.shape), bits, expand(tile.layout, 0))
    value = emit(ExpandOp, [value], one, axis=i64(0))
    many = tensor_type(tuple(apart.out_sizes.values()), bits, apart)
    value = emit(BroadcastOp, [value], many)
    joined = tensor_type(tile.shape, bits, tile.layout)
    value = emit(ReduceOp, [value], joined, axis=i64(0), fn=ir.StringAttr.get("arith.ori"))
    whole = tensor_type(tile.shape, tile.element, tile.layout)
    return value if is_integer else arith.bitcast(value, whole)
