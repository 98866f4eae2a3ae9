"""`tile-rasterize`: CTAs that run at the same time share what they read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from tilec.dialects.tile.attributes import RASTERIZE
from tilec.ir.aliases import Value
from tilec.ir.dimensions import dimension_attribute, dimension_of
from tilec.ir.mlir import ir

from .emit import create, index_constant
from .functions import take_positive
from .kernel_pass import Kernel, KernelPass

_X, _Y = range(2)


@dataclass(frozen=True)
class Rasterize(KernelPass):
    """Renumber a kernel's CTAs along x and y, so that those launched together lie in a block.

    In and out: any level above NVVM. CTAs are launched row by row of the grid; those of one time
    read one strip of A and all of B. In a kernel with the attribute `tile.rasterize = G : i64` the
    numbers `gpu.block_id x` and `y` become those of an order that goes down G rows before it goes
    to the next column: they read less of both, which stays in L2. Every CTA of the grid still
    has one place, whatever the grid's extents. The attribute goes.
    """

    name: ClassVar[str] = "tile-rasterize"

    def run(self, kernel: Kernel) -> None:
        """Renumber the CTAs of a kernel that asks for it."""
        rows = take_positive(kernel.function, RASTERIZE)
        if rows is not None:
            _renumber(kernel, rows)


def _renumber(kernel: Kernel, rows: int) -> None:
    numbers = [op for op in kernel.named("gpu.block_id") if dimension_of(op) in (_X, _Y)]
    if not numbers:
        return
    top = kernel.function.entry_block.operations[0]
    with ir.InsertionPoint(top), kernel.function.location:
        new = _places(rows)
    for op in numbers:
        op.result.replace_all_uses_with(new[dimension_of(op)])
        op.operation.erase()
    kernel.remark(kernel.function, f"goes down {rows} rows of CTAs before a next column")


def _places(rows: int) -> tuple[Value, Value]:
    """This CTA's place along x and y in the order that goes down `rows` rows at a time."""
    across, down = _gpu("grid_dim", _X), _gpu("grid_dim", _Y)
    number = _index("addi", _index("muli", _gpu("block_id", _Y), across), _gpu("block_id", _X))
    of_group = _index("muli", across, index_constant(rows))
    group, within = _index("divui", number, of_group), _index("remui", number, of_group)
    first = _index("muli", group, index_constant(rows))
    # The last group may have fewer rows.
    height = _index("minui", _index("subi", down, first), index_constant(rows))
    y = _index("addi", first, _index("remui", within, height))
    return _index("divui", within, height), y


def _gpu(name: str, dimension: int) -> Value:
    which = dimension_attribute(dimension)
    return create(f"gpu.{name}", [], ir.IndexType.get(), dimension=which)


def _index(name: str, a: Value, b: Value) -> Value:
    return create(f"arith.{name}", [a, b], ir.IndexType.get())
