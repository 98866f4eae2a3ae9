"""`tile-fragments-to-nvvm`: from fragments to each lane's registers."""

from __future__ import annotations

from functools import cache, partial
from typing import ClassVar

from tilec.dialects.tile import ops
from tilec.dialects.tile.dialect import FragType, SharedAttr, WmmaType
from tilec.dialects.tile.ops.base import TileOp
from tilec.dialects.tile.tensor import is_tensor
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.ir.types import integer

from . import lowerings
from .fragments.expansion import Expansion, Values, lowers
from .kernel_pass import Kernel, KernelPass
from .nvvm import elementwise
from .nvvm.async_copy import AsyncCopies
from .nvvm.atomics import Atomics
from .nvvm.barriers import Barriers
from .nvvm.casts import Casts
from .nvvm.conversions import Conversions
from .nvvm.fetches import Fetches
from .nvvm.inline_asm import assembly
from .nvvm.lowering import Lowering
from .nvvm.matrix_memory import MatrixMoves
from .nvvm.memory import Memory
from .nvvm.products import Products
from .nvvm.reductions import Reductions
from .nvvm.registers import Packing, packing
from .nvvm.shared_buffers import SHARED, SharedBuffers
from .nvvm.takes import Takes
from .nvvm.tma import BoxCopies
from .nvvm.views import Iotas, view
from .nvvm.wgmma import Wgmmas, warpgroup_packing
from .nvvm.wmma import Wmma, wmma_packing


class FragmentsToNvvm(KernelPass):
    """Replace every fragment by the registers that hold it, and the tile ops on them.

    In: level 3, fragments in `gpu.func`s.
    Out: `arith`, `scf`, `llvm`, `nvvm` and `vector` on scalars and short vectors. A matrix
    instruction becomes a convergent call of its LLVM intrinsic, or inline assembly where LLVM has
    none. Shared buffers become one array; its size stands in the attribute `tile.dynamic_shared`
    where it is more than a kernel gets without asking. A remark says of each access to global
    memory how many bytes an instruction takes, and why no more.
    """

    name: ClassVar[str] = "tile-fragments-to-nvvm"

    def run(self, kernel: Kernel) -> None:
        """Rewrite a kernel."""
        lowering = Lowering(kernel.module, kernel.function, kernel.target)
        _lower(lowering)
        lowering.accesses.explain(kernel.function_of(kernel.function))


def _packing(type_: FragType) -> Packing:
    tile = tile_value(type_)
    assert tile is not None
    return packing(tile)


def _expand(type_: Type) -> list[Type] | None:
    if isinstance(type_, WmmaType):
        packed = wmma_packing(type_)
        return [packed.type] * packed.registers
    if isinstance(type_, FragType):
        packed = warpgroup_packing(type_) or _packing(type_)
        return [packed.type] * packed.registers
    if isinstance(type_, ir.MemRefType) and isinstance(type_.memory_space, SharedAttr):
        return [llvm.pointer(SHARED)]
    if is_tensor(type_):
        return [integer(32)]
    if isinstance(type_, ir.RankedTensorType) and tile_value(type_) is not None:
        return [type_]
    return None


def _lower(kernel: Lowering) -> None:
    buffers = SharedBuffers(kernel)
    memory, moves = Memory(kernel), MatrixMoves(kernel)
    products, copies = Products(kernel), AsyncCopies(kernel)
    wmma, wgmma = Wmma(kernel), Wgmmas(kernel)
    barriers, boxes = Barriers(kernel), BoxCopies(kernel)
    handlers = dict(
        (
            *lowerings.to_registers().items(),
            *(lowers(op, partial(_in_tensor_memory, kernel)) for op in _TENSOR_OPS),
            lowers(ops.AccumulatorOp, wgmma.accumulator),
            lowers(ops.AllocSharedOp, buffers.alloc),
            lowers(ops.AsyncCommitOp, copies.commit),
            lowers(ops.AsyncCopyOp, copies.copy),
            lowers(ops.AsyncWaitOp, copies.wait),
            lowers(ops.AtomicOp, Atomics(kernel).atomic),
            lowers(ops.AtomicCasOp, Fetches(kernel).fetch),
            lowers(ops.AtomicRmwOp, Fetches(kernel).fetch),
            lowers(ops.AtomicScatterOp, Atomics(kernel).atomic),
            lowers(ops.BarrierArriveOp, barriers.arrive),
            lowers(ops.BarrierExpectOp, barriers.expect),
            lowers(ops.BarrierInitOp, barriers.init),
            lowers(ops.BarrierWaitOp, barriers.wait),
            lowers(ops.BroadcastOp, view),
            lowers(ops.CastOp, Casts(kernel).cast),
            lowers(ops.ConcatOp, elementwise.concat),
            lowers(ops.ConvertLayoutOp, Conversions(kernel).convert),
            lowers(ops.ElementwiseOp, elementwise.elementwise),
            lowers(ops.ExpandOp, view),
            lowers(ops.FillOp, elementwise.fill),
            lowers(ops.GatherOp, memory.load),
            lowers(ops.InlineAsmOp, assembly),
            lowers(ops.InlineAsmVolatileOp, assembly),
            lowers(ops.IotaOp, Iotas(kernel).iota),
            lowers(ops.JoinWarpsOp, wgmma.join),
            lowers(ops.LdmatrixOp, moves.ldmatrix),
            lowers(ops.LoadOp, memory.load),
            lowers(ops.MmaOp, products.product),
            lowers(ops.MmaScaledOp, products.product),
            lowers(ops.MmaSpOp, products.product),
            lowers(ops.MmaSpScaledOp, products.product),
            lowers(ops.MovmatrixOp, products.product),
            lowers(ops.ReduceOp, Reductions(kernel).reduce),
            lowers(ops.ReshapeOp, view),
            lowers(ops.ScatterOp, memory.store),
            lowers(ops.SelectOp, elementwise.select),
            lowers(ops.SliceOp, elementwise.cut),
            lowers(ops.StmatrixOp, moves.stmatrix),
            lowers(ops.StoreOp, memory.store),
            lowers(ops.TakeOp, Takes(kernel).take),
            lowers(ops.TmaLoadOp, boxes.load),
            lowers(ops.TmaPrefetchOp, boxes.prefetch),
            lowers(ops.TmaReduceOp, boxes.send),
            lowers(ops.TmaStoreOp, boxes.send),
            lowers(ops.TransposeOp, view),
            lowers(ops.WarpPartOp, wgmma.part),
            lowers(ops.WarpgroupIdOp, barriers.warpgroup),
            lowers(ops.WgmmaCommitOp, wgmma.commit),
            lowers(ops.WgmmaFenceOp, wgmma.fence),
            lowers(ops.WgmmaOp, wgmma.product),
            lowers(ops.WgmmaSpOp, wgmma.product),
            lowers(ops.WgmmaWaitOp, wgmma.wait),
            lowers(ops.WmmaElementwiseOp, wmma.elementwise),
            lowers(ops.WmmaFillOp, wmma.fill),
            lowers(ops.WmmaLoadOp, wmma.load),
            lowers(ops.WmmaMmaOp, wmma.mma),
            lowers(ops.WmmaStoreOp, wmma.store),
        )
    )
    try:
        Expansion(cache(_expand), handlers).run(kernel.function)
        buffers.finish()
    finally:
        kernel.finish()


def _in_tensor_memory(kernel: Lowering, op: TileOp, expansion: Expansion) -> list[Values]:
    """What replaces an op on tensor memory."""
    from .nvvm.tcgen05 import lower  # noqa: PLC0415 (for Blackwell only)

    return lower(kernel, op, expansion)


_TENSOR_OPS = (
    ops.Tcgen05AllocOp,
    ops.Tcgen05CommitOp,
    ops.Tcgen05CpOp,
    ops.Tcgen05DeallocOp,
    ops.Tcgen05FenceOp,
    ops.Tcgen05LdOp,
    ops.Tcgen05MmaOp,
    ops.Tcgen05MmaScaledOp,
    ops.Tcgen05RelinquishOp,
    ops.Tcgen05StOp,
    ops.Tcgen05WaitLdOp,
    ops.Tcgen05WaitStOp,
    ops.TensorBufferOp,
)
