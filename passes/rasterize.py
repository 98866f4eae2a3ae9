"""`tile-rasterize`: CTAs that run at the same time share what they read."""

from __future__ import annotations

from typing import ClassVar

from tilec.ir.aliases import Value
from tilec.ir.dimensions import dimension_of
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu
from tilec.ir.types import i32
from tilec.isa.wording import counted

from .emit import index_constant
from .kernel_pass import Kernel, KernelPass
from .tile_order import TileOrder, curve_places, take_order

_X, _Y = range(2)


class Rasterize(KernelPass):
    """Renumber a kernel's CTAs along x and y, so that those launched together lie in a block.

    In and out: any level above NVVM. CTAs are launched row by row of the grid, so CTAs that run
    at the same time read one strip of A and all of B. In a kernel with the attribute
    `tile.rasterize = G : i64`, `gpu.block_id x` and `y` are replaced by those of an order that
    goes down G rows before it moves to the next column. These CTAs read less of A and B, which
    stays in L2. With `tile.rasterize = "hilbert"` they follow Hilbert curves through blocks of
    16x16 CTAs. Every CTA of the grid still has one position, for any extents of the grid. The
    attribute is removed. In persistent kernels tile-make-persistent handles it.
    """

    name: ClassVar[str] = "tile-rasterize"

    def run(self, kernel: Kernel) -> None:
        """Renumber the CTAs of a kernel that asks for it."""
        order = take_order(kernel.function)
        if order is not None:
            renumber(kernel, order)


def renumber(kernel: Kernel, order: TileOrder) -> None:
    """Let the CTAs of a kernel have places in an order, by ops at its top."""
    numbers = [op for op in kernel.named("gpu.block_id") if dimension_of(op) in (_X, _Y)]
    if not numbers:
        return
    top = kernel.function.entry_block.operations[0]
    with ir.InsertionPoint(top), kernel.function.location:
        new = _along_curve() if order.is_curve else _places(order.rows)
    for op in numbers:
        op.result.replace_all_uses_with(new[dimension_of(op)])
        op.operation.erase()
    how = f"goes down {counted(order.rows, 'row')} of CTAs before the next column"
    if order.is_curve:
        how = "goes through its CTAs along Hilbert curves"
    kernel.remark(kernel.function, how)


def _along_curve() -> list[Value]:
    """This CTA's place along x and y in the order of Hilbert's curves."""
    across, down, x, y = (
        arith.index_castui(one(axis), i32())
        for one in (gpu.grid_dim, gpu.block_id)
        for axis in (gpu.Dimension.X, gpu.Dimension.Y)
    )
    number = arith.addi(arith.muli(y, across), x)
    places = curve_places(number, across, down)
    return [arith.index_castui(place, ir.IndexType.get()) for place in places]


def _places(rows: int) -> list[Value]:
    """This CTA's place along x and y in the order that goes down `rows` rows at a time."""
    across, down = gpu.grid_dim(gpu.Dimension.X), gpu.grid_dim(gpu.Dimension.Y)
    before = arith.muli(gpu.block_id(gpu.Dimension.Y), across)
    number = arith.addi(before, gpu.block_id(gpu.Dimension.X))
    of_group = arith.muli(across, index_constant(rows))
    group, within = arith.divui(number, of_group), arith.remui(number, of_group)
    first = arith.muli(group, index_constant(rows))
    # The last group may have fewer rows.
    height = arith.minui(arith.subi(down, first), index_constant(rows))
    y = arith.addi(first, arith.remui(within, height))
    return [arith.divui(within, height), y]
