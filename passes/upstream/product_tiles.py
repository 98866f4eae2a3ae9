"""How large the tiles of a product are, and how many warps compute one of the result."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tilec.dialects.tile.tiles import bits_of
from tilec.ir.mlir import ir
from tilec.isa import Target, TilecError
from tilec.isa.rates import SHARED_BYTES

from ..analysis.costs import TILE_DEPTH, TILE_SIDE, TILE_WARPS, WARP_ACCUMULATORS
from ..defaults import default_of
from .known_tiles import KnownTiles
from .memory_product import MemoryProduct

_SLICE_BITS = 8 * SHARED_BYTES
"""Bits of K a slice, at most: what shared memory delivers at a time."""
_STEP_BITS = 8 * 32
"""Bits of K that one instruction multiplies, if it is of a usual shape."""
_STORE = "the tuning store"
_LEAST = 16
"""Rows and columns of the smallest tile: those of an instruction."""


@dataclass(frozen=True, slots=True)
class Pins:
    """What the user says of the tiles; None where it is open.

    Attributes:
        m: rows of A and of the result.
        n: columns of B and of the result.
        k: what one slice has of the depth.
        warps: warps of a CTA.
        known: what was found best, which a product with such extents takes.
    """

    m: int | None
    n: int | None
    k: int | None
    warps: int | None
    known: tuple[KnownTiles, ...] = ()


@dataclass(frozen=True, slots=True)
class ProductTiles:
    """Tiles of a product.

    Attributes:
        m: rows of A and of the result.
        n: columns of B and of the result.
        k: what one slice has of the depth.
        warps: warps of a CTA.
        source: where they come from, if not from the extents.
        unknown: that the tiles that were found best are none of this product, in words.
    """

    m: int
    n: int
    k: int
    warps: int
    source: str = ""
    unknown: str = ""


def product_tiles(product: MemoryProduct, pins: Pins, target: Target | None) -> ProductTiles:
    """The tiles of a product: pinned, found best, of the table of defaults, or by its extents.

    Args:
        product: the product; its static extents make tiles no larger than they need be.
        pins: what is not to be chosen.
        target: the GPU, if it is known.

    Raises:
        TilecError: if a pin is not a power of two.
    """
    for name in ("m", "n", "k", "warps"):
        pin = getattr(pins, name)
        if pin is not None and (pin < 1 or pin & (pin - 1)):
            option = name if name == "warps" else f"tile-{name}"
            raise TilecError(f"{option} must be a power of two, not {pin}")
    if target is not None and (extents := _usual(product, pins)) is not None:
        found = _of_known(extents, pins, target) or _of_table(extents, pins, target)
        unknown = ""
        if pins.known and (found is None or not found.source.startswith(_STORE)):
            of = "x".join(map(str, extents))
            unknown = f"{_STORE} knows no tiles for {of}, {target.name}"
        if found is not None:
            return replace(found, unknown=unknown)
        return replace(_by_extents(product, pins), unknown=unknown)
    return _by_extents(product, pins)


def _by_extents(product: MemoryProduct, pins: Pins) -> ProductTiles:
    """Tiles no larger than a product, as large as registers and shared memory allow."""
    *_, rows, cols = product.contraction.maps[2]
    side = TILE_SIDE * 32 // max(32, bits_of(product.elements.total))
    bits = bits_of(product.elements.a)
    m = pins.m or _clamped(product.static(rows), _LEAST, side)
    n = pins.n or _clamped(product.static(cols), _LEAST, side)
    depth = product.static(product.contraction.depth)
    k = pins.k or _clamped(depth, _STEP_BITS // bits, min(TILE_DEPTH, _SLICE_BITS // bits))
    warps = pins.warps or min(TILE_WARPS, max(1, m * n // WARP_ACCUMULATORS))
    return ProductTiles(m, n, k, warps)


def _usual(product: MemoryProduct, pins: Pins) -> tuple[int, int, int] | None:
    """M, N and K of a product that tuning may know, of which no tile is pinned; None of others."""
    *batch, rows, cols = product.contraction.maps[2]
    elements = product.elements
    usual = all(isinstance(one, ir.F16Type | ir.BF16Type) for one in (elements.a, elements.b))
    if batch or not usual or not isinstance(elements.total, ir.F32Type):
        return None
    extents = (product.static(loop) for loop in (rows, cols, product.contraction.depth))
    m, n, k = (extent or 0 for extent in extents)
    if (pins.m, pins.n, pins.k) != (None, None, None) or not m * n * k:
        return None
    return m, n, k


def _of_known(extents: tuple[int, int, int], pins: Pins, target: Target) -> ProductTiles | None:
    """What was found best for a product; None if nothing."""
    for one in pins.known:
        if (one.target, one.extents) == (target.name, extents) and pins.warps in (None, one.warps):
            source = f"{_STORE} for {'x'.join(map(str, extents))}, {target.name},"
            return ProductTiles(*one.tiles, one.warps, source)
    return None


def _of_table(extents: tuple[int, int, int], pins: Pins, target: Target) -> ProductTiles | None:
    """What the table of defaults has for a product; None if nothing."""
    known = default_of("gemm", target.name, dict(zip("mnk", extents, strict=True)))
    if known is None or pins.warps not in (None, known.parameters["warps"]):
        return None
    given = known.parameters
    return ProductTiles(given["BM"], given["BN"], given["BK"], given["warps"], str(known))


def _clamped(extent: int | None, least: int, most: int) -> int:
    """The power of two that an extent fits in, between bounds."""
    if extent is None:
        return most
    return min(most, max(least, 1 << max(0, extent - 1).bit_length()))
