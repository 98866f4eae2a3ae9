"""`tile-fragments-to-nvvm`: from fragments to each lane's registers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import ClassVar

from tilec.dialects.tile.dialect import FragType, SharedAttr, WmmaType
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir

from . import lowerings
from .fragments.expansion import Expansion
from .kernel_pass import Kernel, KernelPass
from .nvvm import elementwise
from .nvvm.async_copy import AsyncCopies
from .nvvm.atomics import Atomics
from .nvvm.casts import Casts
from .nvvm.conversions import Conversions
from .nvvm.kernel import Kernel as Lowering
from .nvvm.matrix_memory import MatrixMoves
from .nvvm.memory import Memory
from .nvvm.products import Products
from .nvvm.reductions import Reductions
from .nvvm.registers import packing
from .nvvm.shared_buffers import SharedBuffers
from .nvvm.views import Iotas, view
from .nvvm.wmma import Wmma, wmma_packing


@dataclass(frozen=True)
class FragmentsToNvvm(KernelPass):
    """Replace every fragment by the registers that hold it, and the tile ops on them.

    In: level 3, fragments in `gpu.func`s.
    Out: `arith`, `scf`, `llvm`, `nvvm` and `vector` on scalars and short vectors. A matrix
    instruction becomes a convergent call of its LLVM intrinsic, or inline assembly where LLVM has
    none. Shared buffers become one array; its size stands in the attribute `tile.dynamic_shared`
    where it is more than a kernel gets without asking.
    """

    name: ClassVar[str] = "tile-fragments-to-nvvm"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        lowering = Lowering(kernel.module, kernel.function, kernel.target)
        _lower(lowering)


def _expand(type_: Type) -> list[Type] | None:
    if isinstance(type_, WmmaType):
        packed = wmma_packing(type_)
        return [packed.type] * packed.registers
    if isinstance(type_, FragType):
        tile = tile_value(type_)
        assert tile is not None
        packed = packing(tile)
        return [packed.type] * packed.registers
    if isinstance(type_, ir.MemRefType) and isinstance(type_.memory_space, SharedAttr):
        return [ir.Type.parse("!llvm.ptr<3>")]
    if isinstance(type_, ir.RankedTensorType) and tile_value(type_) is not None:
        return [type_]
    return None


def _lower(kernel: Lowering) -> None:
    buffers = SharedBuffers(kernel)
    memory, moves = Memory(kernel), MatrixMoves(kernel)
    products, copies = Products(kernel), AsyncCopies(kernel)
    wmma = Wmma(kernel)
    handlers = {
        **lowerings.to_registers(),
        "tile.alloc_shared": buffers.alloc,
        "tile.async_commit": copies.commit,
        "tile.async_copy": copies.copy,
        "tile.async_wait": copies.wait,
        "tile.atomic": Atomics(kernel).atomic,
        "tile.broadcast": view,
        "tile.cast": Casts(kernel).cast,
        "tile.concat": elementwise.concat,
        "tile.convert_layout": Conversions(kernel).convert,
        "tile.elementwise": elementwise.elementwise,
        "tile.expand": view,
        "tile.fill": elementwise.fill,
        "tile.iota": Iotas(kernel).iota,
        "tile.ldmatrix": moves.ldmatrix,
        "tile.load": memory.load,
        "tile.mma": products.product,
        "tile.mma_scaled": products.product,
        "tile.mma_sp": products.product,
        "tile.mma_sp_scaled": products.product,
        "tile.movmatrix": products.product,
        "tile.reduce": Reductions(kernel).reduce,
        "tile.reshape": view,
        "tile.select": elementwise.select,
        "tile.slice": elementwise.cut,
        "tile.stmatrix": moves.stmatrix,
        "tile.store": memory.store,
        "tile.transpose": view,
        "tile.wmma_elementwise": wmma.elementwise,
        "tile.wmma_fill": wmma.fill,
        "tile.wmma_load": wmma.load,
        "tile.wmma_mma": wmma.mma,
        "tile.wmma_store": wmma.store,
    }
    Expansion(cache(_expand), handlers).run(kernel.function)
    buffers.finish()
