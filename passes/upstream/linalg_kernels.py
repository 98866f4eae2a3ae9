"""A kernel written in linalg as one on tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from tilec.dialects.tile.attributes import GRID
from tilec.ir.mlir import ir
from tilec.isa import LANES, TilecError
from tilec.isa.wording import counted

from ..kernel_pass import Kernel
from .linalg_products import linalg_kernel, memory_product
from .memory_product import MemoryProduct
from .product_tiles import Pins, ProductTiles, product_tiles
from .tiled_product import emit_product


def convert_kernel(kernel: Kernel, pins: Pins) -> None:
    """Rewrite a kernel that holds ops of linalg's; where anything is wrong with it, it stays.

    Args:
        kernel: the kernel.
        pins: what the user says of the tiles.

    Raises:
        PassError: for ops that do not belong to a product.
    """
    if not kernel.is_entry:
        kernel.error(kernel.function, "is not a kernel; a linalg op is executed by all CTAs of one")
        return
    found = linalg_kernel(kernel.function)
    op = found.product
    with kernel.at(op):
        product = memory_product(found)
        tiles = product_tiles(product, _with_warps(kernel, pins), kernel.target)
        _say_launch(kernel, op, product, tiles)
        with ir.InsertionPoint(op):
            emit_product(product, tiles)
        for done in (op, *found.fills):
            done.erase()


def _with_warps(kernel: Kernel, pins: Pins) -> Pins:
    """The pins, with the number of warps if the kernel says it.

    Raises:
        TilecError: if it says another.
    """
    if kernel.block_size is None:
        return pins
    warps = kernel.threads // LANES
    if pins.warps not in (None, warps):
        raise TilecError(
            f"its kernel's known_block_size is of {counted(warps, 'warp')}, not {pins.warps}"
        )
    return replace(pins, warps=warps)


def _say_launch(
    kernel: Kernel, op: ir.Operation, product: MemoryProduct, tiles: ProductTiles
) -> None:
    """Say how many threads a CTA has, and how many CTAs there are: in attributes and a remark."""
    attributes = kernel.function.attributes
    if "known_block_size" not in attributes:
        attributes["known_block_size"] = ir.DenseI32ArrayAttr.get([tiles.warps * LANES, 1, 1])
    axes = _grid(product, tiles)
    why = f", as {tiles.source} has it" if tiles.source else ""
    written = ", ".join(" x ".join(map(str, axis)) or "1" for axis in axes)
    kernel.remark(
        op,
        f"becomes tiles of {tiles.m}x{tiles.n}x{tiles.k} (M, N, K) for "
        f"{counted(tiles.warps, 'warp')}{why}; its "
        f"grid is ({written}){'; ' if tiles.unknown else ''}{tiles.unknown}",
    )
    sizes = [prod(ctas.count or 0 for ctas in axis) for axis in axes]
    if all(sizes) and "known_grid_size" not in attributes:
        attributes["known_grid_size"] = ir.DenseI32ArrayAttr.get(sizes)
    result = product.memrefs[2]
    if isinstance(result, ir.BlockArgument):
        number = result.arg_number
        attributes[GRID] = ir.ArrayAttr.get(
            [
                ir.DenseI64ArrayAttr.get([n for c in axis for n in (number, c.dim, c.step)])
                for axis in axes
            ]
        )


@dataclass(frozen=True, slots=True)
class _Ctas:
    """CTAs along a dimension of the result.

    Attributes:
        dim: the dimension.
        step: its elements that one CTA computes.
        extent: all of them, or None if that is not known.
    """

    dim: int
    step: int
    extent: int | None

    @property
    def count(self) -> int | None:
        """How many there are, at least one; None if that is not known."""
        return None if self.extent is None else max(1, -(-self.extent // self.step))

    def __str__(self) -> str:
        if self.count is not None:
            return str(self.count)
        size = f"size {self.dim} of the result"
        return size if self.step == 1 else f"ceil({size} / {self.step})"


def _grid(product: MemoryProduct, tiles: ProductTiles) -> list[list[_Ctas]]:
    """The CTAs along x, y and z, each axis a product."""
    loops = product.contraction.maps[2]
    steps = [*(1 for _ in loops[:-2]), tiles.m, tiles.n]
    *batch, rows, cols = (
        _Ctas(dim, step, product.static(loop))
        for dim, (loop, step) in enumerate(zip(loops, steps, strict=True))
    )
    return [[cols], [rows], batch]
