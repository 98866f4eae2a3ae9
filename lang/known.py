"""What is known of a value of the kernel while the kernel is being built."""

from __future__ import annotations

from typing import Any

from tilec.dialects.tile.ops import FillOp
from tilec.dialects.tile.ops.base import RelatedOp
from tilec.ir.mlir import ir
from tilec.passes.analysis import multiples

from .dtypes import DType
from .tile import Tile

_DEPTH = 8
"""How many ops are looked back."""


def number_of(tile: Tile) -> int | None:
    """The integer that a scalar, or each element of a tile, is known to be."""
    return _number(tile.value, tile.dtype)


def _number(value: Any, dtype: type[DType]) -> int | None:
    owner = _same_elements(value).owner
    if getattr(owner, "name", "") != "arith.constant":
        return None
    attribute: Any = owner.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr):
        if not attribute.is_splat:
            return None
        attribute = attribute.get_splat_value()
    if not isinstance(attribute, ir.IntegerAttr):
        return None
    number = int(attribute.value)
    return number % (1 << dtype.bits) if dtype.kind == "uint" else number


def _same_elements(value: Any) -> Any:
    """What a value was made of without a change to its elements."""
    while not isinstance(value.owner, ir.Block) and _keeps_elements(value.owner.opview):
        value = value.owner.operands[0]
    return value


def _keeps_elements(op: ir.OpView) -> bool:
    return isinstance(op, FillOp) or (isinstance(op, RelatedOp) and op.KEEPS_ELEMENTS)


def at_most(tile: Tile, depth: int = _DEPTH) -> int | None:
    """A number that no element, taken without its sign, is larger than; None if none is known."""
    number = number_of(tile)
    if number is not None:
        return number % (1 << tile.dtype.bits)
    owner = _same_elements(tile.value).owner
    name = getattr(owner, "name", "")
    if name not in ("arith.andi", "arith.remui", "arith.minui") or depth == 0:
        return None
    parts = [Tile(part, tile.dtype) for part in owner.operands]
    bounds = [at_most(part, depth - 1) for part in parts]
    if name == "arith.remui":
        return None if not bounds[1] else bounds[1] - 1
    return min((bound for bound in bounds if bound is not None), default=None)


def at_least(tile: Tile, depth: int = _DEPTH) -> int | None:
    """A number that no element is less than; None if none is known."""
    number = number_of(tile)
    if number is not None:
        return number
    owner = _same_elements(tile.value).owner
    name = getattr(owner, "name", "")
    if name in ("gpu.grid_dim", "gpu.block_dim"):
        return 1
    if name in ("arith.maxsi", "arith.maxui") and depth:
        bounds = [at_least(Tile(part, tile.dtype), depth - 1) for part in owner.operands]
        found = [bound for bound in bounds if bound is not None]
        return max(found, default=None)
    return 0 if tile.natural else None


def multiple_of(place: Tile) -> int:
    """A power of two that is known to divide a scalar intp."""
    return multiples.multiple_of(place.value)
