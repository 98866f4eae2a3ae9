"""Tiles as memory holds them: narrow elements in bytes."""

from __future__ import annotations

from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.isa import TilecError
from tilec.isa.wording import counted
from tilec.layout import LinearLayout

from .dialect import ByteType
from .tiles import TileValue, bits_of


def stored_elements(element: Type) -> tuple[str, ...]:
    """The element types that a memref of such elements may have, the usual one first.

    Elements of less than a byte, and narrow floats in bytes, are `i8` in memory; other 8-bit
    floats may be; a tf32 is an f32 whose low 13 bits the instructions ignore.
    """
    name = str(element)
    if name == "tf32":
        return ("f32",)
    if isinstance(element, ByteType) or bits_of(element) < 8:
        return ("i8",)
    return (name, "i8") if bits_of(element) == 8 and name != "i8" else (name,)


def check_addressable(layout: LinearLayout) -> None:
    """Check that addresses are sums of what registers, lanes and warps say of them.

    Raises:
        TilecError: if two of them set a bit of a place in common.
    """
    if not layout.is_disjoint:
        raise TilecError(
            f"addresses memory by the layout '{layout}', two of whose inputs set the same bit of a "
            "row or column; legal: layouts in which each bit of a position is set by one input only"
        )


def stored_places(layout: LinearLayout, element: Type, *, transposed: bool) -> LinearLayout:
    """Places that are whole bytes, in units of what memory holds.

    Args:
        layout: … -> place in a tile of `element`, such as those where its fragments begin.
        element: the tile's element type.
        transposed: whether memory holds the tile's transpose.
    """
    together = max(1, 8 // bits_of(element))
    if together == 1:
        return layout
    last = list(layout.out_sizes)[-2 if transposed else -1]
    sizes = {n: s // together if n == last else s for n, s in layout.out_sizes.items()}
    return LinearLayout.of(
        {
            dim: [
                [at // together if n == last else at for n, at in zip(sizes, image, strict=True)]
                for image in images
            ]
            for dim, images in layout.bases.items()
        },
        sizes,
    )


def stored_tile(tile: TileValue, *, transposed: bool) -> TileValue:
    """The tile in units of what memory holds: itself, or bytes of elements narrower than that.

    Args:
        tile: the tile.
        transposed: whether memory holds its transpose.

    Raises:
        TilecError: if a register's elements do not lie side by side in memory, where they
            share a byte.
    """
    bits = bits_of(tile.element)
    if bits >= 8:
        return tile
    together = 8 // bits
    last = list(tile.layout.out_sizes)[-2 if transposed and len(tile.shape) > 1 else -1]
    rest = tile.layout.divide_left(LinearLayout.identity(together, "register", last))
    if rest is None:
        where = "columns" if last == list(tile.layout.out_sizes)[-1] else "rows"
        other = "without" if transposed else "with"
        raise TilecError(
            f"{counted(together, 'element')} of {tile.element} share a byte of memory, but the "
            "layout "
            f"'{tile.layout}' does not hold neighbouring {where} together; memory of the "
            f"transposed tile, {other} the attribute transposed, may fit"
        )
    shape = tuple(
        extent * whole // unit
        for extent, whole, unit in zip(
            rest.out_sizes.values(), tile.shape, tile.layout.out_sizes.values(), strict=True
        )
    )
    return TileValue(shape, ir.IntegerType.get_signless(8), rest, tile.is_fragment)
