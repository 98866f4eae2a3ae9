"""What is known of a value of the kernel while the kernel is being built."""

from __future__ import annotations

from typing import Any

from tilec.ir import mlir

from .tile import Tile

_DEPTH = 8
"""How many ops are looked back."""


def number_of(tile: Tile) -> int | None:
    """The integer that a scalar, or each element of a tile, is known to be."""
    owner = tile.value.owner
    if getattr(owner, "name", "") != "arith.constant":
        return None
    attribute: Any = owner.attributes["value"]
    if isinstance(attribute, mlir.ir.DenseElementsAttr):
        if not attribute.is_splat:
            return None
        attribute = attribute.get_splat_value()
    if not isinstance(attribute, mlir.ir.IntegerAttr):
        return None
    number = int(attribute.value)
    return number % (1 << tile.dtype.bits) if tile.dtype.kind == "uint" else number


def at_most(tile: Tile, depth: int = _DEPTH) -> int | None:
    """A number that no element, taken without its sign, is larger than; None if none is known."""
    number = number_of(tile)
    if number is not None:
        return number % (1 << tile.dtype.bits)
    owner = tile.value.owner
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
    owner = tile.value.owner
    name = getattr(owner, "name", "")
    if name in ("gpu.grid_dim", "gpu.block_dim"):
        return 1
    # A view may take what one of these gave for a number of the other kind.
    of_numbers = "arith.maxui" if tile.dtype.kind == "uint" or tile.natural else "arith.maxsi"
    if name == of_numbers and depth:
        bounds = [at_least(Tile(part, tile.dtype), depth - 1) for part in owner.operands]
        found = [bound for bound in bounds if bound is not None]
        return max(found, default=None)
    return 0 if tile.natural else None


def multiple_of(place: Tile) -> int:
    """A power of two that is known to divide a scalar intp."""
    from tilec.passes.analysis import multiples  # noqa: PLC0415 (imports MLIR)

    return multiples.multiple_of(place.value)
