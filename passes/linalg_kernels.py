"""A kernel written in linalg as one on tiles."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from tilec.isa import LANES, TilecError
from tilec.mlir import ir

from .base import Diagnostic, PassError, remark
from .functions import block_size, is_kernel, threads
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
    *outer, rows, cols = loops = product.contraction.maps[2]
    extents = {loop: product.static(loop) for loop in loops}
    steps = {**dict.fromkeys(outer, 1), rows: tiles.m, cols: tiles.n}

    def count(loop: int) -> int | None:
        extent = extents[loop]
        return None if extent is None else max(1, -(-extent // steps[loop]))

    def written(loop: int) -> str:
        known = count(loop)
        if known is not None:
            return str(known)
        size = f"size {loops.index(loop)} of the result"
        return size if steps[loop] == 1 else f"ceil({size} / {steps[loop]})"

    axes = [[cols], [rows], outer]
    grid = ", ".join(" x ".join(map(written, axis)) or "1" for axis in axes)
    remark(
        op.location,
        f"'{op.name}' op becomes tiles of {tiles.m}x{tiles.n}x{tiles.k} (M, N, K) for "
        f"{tiles.warps} warps; its grid is ({grid})",
    )
    sizes = [prod(count(loop) or 0 for loop in axis) for axis in axes]
    if all(sizes) and "known_grid_size" not in attributes:
        attributes["known_grid_size"] = ir.DenseI32ArrayAttr.get(sizes)
