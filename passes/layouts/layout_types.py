"""Giving tiles another layout, where they stand."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import ConvertLayoutOp
from tilec.dialects.tile.tiles import TileValue, tensor_type, tile_value
from tilec.ir.mlir import ir
from tilec.layout import LinearLayout


def laid(value: Any) -> TileValue | None:
    """The tensor with a layout that `value` is, or None."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    return tile_value(value.type)


def with_layout(type_: Any, layout: LinearLayout) -> Any:
    """The type of a tile with its layout replaced, or given."""
    return tensor_type(tuple(type_.shape), type_.element_type, layout)


def set_layout(value: Any, layout: LinearLayout) -> None:
    """Give a tile a layout, and the attribute of its constant, if it is one."""
    type_ = with_layout(value.type, layout)
    value.set_type(type_)
    owner = value.owner
    if getattr(owner, "name", None) == "arith.constant":
        splat = owner.attributes["value"].get_splat_value()
        owner.attributes["value"] = ir.DenseElementsAttr.get_splat(type_, splat)


def converted(value: Any, layout: LinearLayout) -> Any:
    """The tile under a layout: itself, or a conversion emitted here."""
    type_ = with_layout(value.type, layout)
    return value if value.type == type_ else emit(ConvertLayoutOp, [value], type_)


def has_one_use(value: Any) -> bool:
    """Whether a value is used once, or not at all."""
    uses = iter(value.uses)
    next(uses, None)
    return next(uses, None) is None
