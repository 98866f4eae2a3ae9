"""A kernel written in linalg as one on tiles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tilec.dialects.tile.attributes import GRID
from tilec.ir.mlir import ir
from tilec.isa import LANES, TilecError

from ..base import Diagnostic, PassError, remark
from ..functions import block_size, is_kernel, threads
from .linalg_products import linalg_kernel, memory_product
from .memory_product import MemoryProduct
from .product_tiles import Pins, ProductTiles, product_tiles
from .tiled_product import emit_product


def convert_kernel(function: Any, pins: Pins) -> list[Diagnostic]:
    """Rewrite a kernel that holds ops of linalg's.

    Args:
        function: a `gpu.func`.
        pins: what the user says of the tiles.

    Returns:
        What is wrong with it; then it stays.
    """
    if not is_kernel(function):
        message = "'gpu.func' op is no kernel, and ops of linalg's are for all CTAs of one"
        return [Diagnostic(function.location, message)]
    try:
        kernel = linalg_kernel(function)
    except PassError as error:
        return list(error.diagnostics)
    op = kernel.product
    try:
        product = memory_product(kernel)
        tiles = product_tiles(product, _with_warps(function, pins))
    except TilecError as error:
        return [Diagnostic(op.location, f"'{op.name}' op {error}")]
    _say_launch(function, op, product, tiles)
    with ir.InsertionPoint(op), op.location:
        emit_product(product, tiles)
    for done in (op, *kernel.fills):
        done.erase()
    return []


def _with_warps(function: Any, pins: Pins) -> Pins:
    """The pins, with the number of warps if the kernel says it.

    Raises:
        TilecError: if it says another.
    """
    if block_size(function) is None:
        return pins
    warps = threads(function) // LANES
    if pins.warps not in (None, warps):
        raise TilecError(f"its kernel's known_block_size is of {warps} warps, not {pins.warps}")
    return replace(pins, warps=warps)


def _say_launch(function: Any, op: Any, product: MemoryProduct, tiles: ProductTiles) -> None:
    """Say how many threads a CTA has, and how many CTAs there are: in attributes and a remark."""
    attributes = function.operation.attributes
    if "known_block_size" not in attributes:
        attributes["known_block_size"] = ir.DenseI32ArrayAttr.get([tiles.warps * LANES, 1, 1])
    axes = _grid(product, tiles)
    written = ", ".join(" x ".join(map(str, axis)) or "1" for axis in axes)
    remark(
        op.location,
        f"'{op.name}' op becomes tiles of {tiles.m}x{tiles.n}x{tiles.k} (M, N, K) for "
        f"{tiles.warps} warps; its grid is ({written})",
    )
    sizes = [prod(ctas.count or 0 for ctas in axis) for axis in axes]
    if all(sizes) and "known_grid_size" not in attributes:
        attributes["known_grid_size"] = ir.DenseI32ArrayAttr.get(sizes)
    result = product.memrefs[2]
    if isinstance(result.owner, ir.Block):
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
