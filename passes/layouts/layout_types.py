"""Giving tiles another layout, where they stand."""

from __future__ import annotations

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ConvertLayoutOp
from tilec.dialects.tile.tiles import TileValue, tensor_type, tile_value
from tilec.ir.aliases import Type, Value
from tilec.ir.attributes import attribute
from tilec.ir.mlir import ir
from tilec.layout import LinearLayout


def layout_tile(value: Value) -> TileValue | None:
    """The tensor with a layout that `value` is, or None."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    return tile_value(value.type)


def known_layout(value: Value) -> TileValue:
    """The tensor that `value` is, which has a layout."""
    found = layout_tile(value)
    assert found is not None
    return found


def with_layout(type_: Type, layout: LinearLayout) -> ir.RankedTensorType:
    """The type of a tile with its layout replaced, or given."""
    tile = ir.RankedTensorType(type_)
    return tensor_type(tuple(tile.shape), tile.element_type, layout)


def set_layout(value: Value, layout: LinearLayout) -> None:
    """Give a tile a layout, and the attribute of its constant, if it is one."""
    type_ = with_layout(value.type, layout)
    value.set_type(type_)
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.name == "arith.constant":
        splat = attribute(owner, "value", ir.DenseElementsAttr).get_splat_value()
        owner.attributes["value"] = ir.DenseElementsAttr.get_splat(type_, splat)


def convert_to(value: Value, layout: LinearLayout) -> Value:
    """The tile under a layout: itself, or a conversion emitted here."""
    type_ = with_layout(value.type, layout)
    return value if value.type == type_ else emit(ConvertLayoutOp, [value], type_)


def replace_but_in(value: Value, other: Value) -> None:
    """Let all who use a value use another, but for the op that makes the other of it."""
    maker = other.owner
    assert not isinstance(maker, ir.Block)
    value.replace_all_uses_except(other, maker.operation)


def has_one_use(value: Value) -> bool:
    """Whether a value is used once, or not at all."""
    uses = iter(value.uses)
    next(uses, None)
    return next(uses, None) is None
