"""`tile-fragments-to-nvvm`: from fragments to each lane's registers."""
# ruff: noqa: PLW0108 (a lambda puts off what it names, until an op asks)

from __future__ import annotations

from functools import cache
from typing import ClassVar

from tilec.dialects.tile import ops
from tilec.dialects.tile.dialect import FragType, SharedAttr, WmmaType
from tilec.dialects.tile.tensor import is_tensor
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.aliases import Type
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm
from tilec.ir.types import integer

from . import lowerings
from .fragments.expansion import Expansion, lowers
from .kernel_pass import Kernel, KernelPass
from .nvvm import elementwise
from .nvvm.async_copy import AsyncCopies
from .nvvm.lowering import Lowering
from .nvvm.matrix_memory import MatrixMoves
from .nvvm.memory import Memory
from .nvvm.on_demand import OnDemand
from .nvvm.products import Products
from .nvvm.registers import Packing, packing, warpgroup_packing, wmma_packing
from .nvvm.shared_buffers import SHARED, SharedBuffers


class FragmentsToNvvm(KernelPass):
    """Replace every fragment by the registers that hold it, and the tile ops on them.

    In: level 3, fragments in `gpu.func`s. Out: `arith`, `scf`, `llvm`, `nvvm` and `vector` on
    scalars and short vectors. A matrix instruction becomes a convergent call of its LLVM
    intrinsic, or inline assembly if LLVM has none. Shared buffers become one array; the
    attribute `tile.dynamic_shared` gives its size if that exceeds the default limit of a
    kernel. For each access to global memory a remark gives the bytes per instruction, and why
    it is not wider.
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
    late = OnDemand(kernel)
    handlers = dict(
        (
            *lowerings.to_registers().items(),
            lowers(ops.AccumulatorOp, lambda op, to: late.wgmmas.accumulator(op, to)),
            lowers(ops.AllocSharedOp, buffers.alloc),
            lowers(ops.AsyncCommitOp, copies.commit),
            lowers(ops.AsyncCopyOp, copies.copy),
            lowers(ops.AsyncWaitOp, copies.wait),
            lowers(ops.AtomicCasOp, lambda op, to: late.fetches.fetch(op, to)),
            lowers(ops.AtomicOp, lambda op, to: late.atomics.atomic(op, to)),
            lowers(ops.AtomicRmwOp, lambda op, to: late.fetches.fetch(op, to)),
            lowers(ops.AtomicScatterOp, lambda op, to: late.atomics.atomic(op, to)),
            lowers(ops.BarrierArriveOp, lambda op, to: late.barriers.arrive(op, to)),
            lowers(ops.BarrierExpectOp, lambda op, to: late.barriers.expect(op, to)),
            lowers(ops.BarrierInitOp, lambda op, to: late.barriers.init(op, to)),
            lowers(ops.BarrierWaitOp, lambda op, to: late.barriers.wait(op, to)),
            lowers(ops.BroadcastOp, lambda op, to: late.view(op, to)),
            lowers(ops.CastOp, lambda op, to: late.casts.cast(op, to)),
            lowers(ops.ConcatOp, elementwise.concat),
            lowers(ops.ConvertLayoutOp, lambda op, to: late.conversions.convert(op, to)),
            lowers(ops.ElementwiseOp, elementwise.elementwise),
            lowers(ops.ExpandOp, lambda op, to: late.view(op, to)),
            lowers(ops.FillOp, elementwise.fill),
            lowers(ops.GatherOp, memory.load),
            lowers(ops.InlineAsmOp, lambda op, to: late.assembly(op, to)),
            lowers(ops.InlineAsmVolatileOp, lambda op, to: late.assembly(op, to)),
            lowers(ops.IotaOp, lambda op, to: late.iotas.iota(op, to)),
            lowers(ops.JoinWarpsOp, lambda op, to: late.wgmmas.join(op, to)),
            lowers(ops.LdmatrixOp, moves.ldmatrix),
            lowers(ops.LoadOp, memory.load),
            lowers(ops.MmaOp, products.product),
            lowers(ops.MmaScaledOp, products.product),
            lowers(ops.MmaSpOp, products.product),
            lowers(ops.MmaSpScaledOp, products.product),
            lowers(ops.MovmatrixOp, products.product),
            lowers(ops.QueryCancelOp, lambda op, to: late.query_cancel(op, to)),
            lowers(ops.ReduceOp, lambda op, to: late.reductions.reduce(op, to)),
            lowers(ops.ReshapeOp, lambda op, to: late.view(op, to)),
            lowers(ops.ScatterOp, memory.store),
            lowers(ops.SelectOp, elementwise.select),
            lowers(ops.SliceOp, elementwise.cut),
            lowers(ops.StmatrixOp, moves.stmatrix),
            lowers(ops.StoreOp, memory.store),
            lowers(ops.TakeOp, lambda op, to: late.takes.take(op, to)),
            lowers(ops.Tcgen05AllocOp, lambda op, to: late.tensors.alloc(op, to)),
            lowers(ops.Tcgen05CommitOp, lambda op, to: late.tensors.commit(op, to)),
            lowers(ops.Tcgen05CpOp, lambda op, to: late.tensors.copy(op, to)),
            lowers(ops.Tcgen05DeallocOp, lambda op, to: late.tensors.dealloc(op, to)),
            lowers(ops.Tcgen05FenceOp, lambda op, to: late.tensors.bare(op, to)),
            lowers(ops.Tcgen05LdOp, lambda op, to: late.tensors.load(op, to)),
            lowers(ops.Tcgen05LdRedOp, lambda op, to: late.tensors.load_reduced(op, to)),
            lowers(ops.Tcgen05MmaOp, lambda op, to: late.tensors.product(op, to)),
            lowers(ops.Tcgen05MmaScaledOp, lambda op, to: late.tensors.product(op, to)),
            lowers(ops.Tcgen05MmaSpOp, lambda op, to: late.tensors.product(op, to)),
            lowers(ops.Tcgen05MmaSpScaledOp, lambda op, to: late.tensors.product(op, to)),
            lowers(ops.Tcgen05RelinquishOp, lambda op, to: late.tensors.bare(op, to)),
            lowers(ops.Tcgen05ShiftOp, lambda op, to: late.tensors.shift(op, to)),
            lowers(ops.Tcgen05StOp, lambda op, to: late.tensors.store(op, to)),
            lowers(ops.Tcgen05WaitLdOp, lambda op, to: late.tensors.wait_load(op, to)),
            lowers(ops.Tcgen05WaitStOp, lambda op, to: late.tensors.bare(op, to)),
            lowers(ops.TensorBufferOp, lambda op, to: late.tensors.buffer(op, to)),
            lowers(ops.TmaGatherOp, lambda op, to: late.boxes.load(op, to)),
            lowers(ops.TmaGatherPrefetchOp, lambda op, to: late.boxes.prefetch_rows(op, to)),
            lowers(ops.TmaLoadOp, lambda op, to: late.boxes.load(op, to)),
            lowers(ops.TmaPrefetchOp, lambda op, to: late.boxes.prefetch(op, to)),
            lowers(ops.TmaReduceOp, lambda op, to: late.boxes.send(op, to)),
            lowers(ops.TmaScatterOp, lambda op, to: late.boxes.send(op, to)),
            lowers(ops.TmaStoreOp, lambda op, to: late.boxes.send(op, to)),
            lowers(ops.TransposeOp, lambda op, to: late.view(op, to)),
            lowers(ops.TryCancelOp, lambda op, to: late.try_cancel(op, to)),
            lowers(ops.TurnOp, lambda op, to: late.barriers.turn(op, to)),
            lowers(ops.WarpPartOp, lambda op, to: late.wgmmas.part(op, to)),
            lowers(ops.WarpgroupIdOp, lambda op, to: late.barriers.warpgroup(op, to)),
            lowers(ops.WgmmaCommitOp, lambda op, to: late.wgmmas.commit(op, to)),
            lowers(ops.WgmmaFenceOp, lambda op, to: late.wgmmas.fence(op, to)),
            lowers(ops.WgmmaOp, lambda op, to: late.wgmmas.product(op, to)),
            lowers(ops.WgmmaSpOp, lambda op, to: late.wgmmas.product(op, to)),
            lowers(ops.WgmmaWaitOp, lambda op, to: late.wgmmas.wait(op, to)),
            lowers(ops.WmmaElementwiseOp, lambda op, to: late.wmmas.elementwise(op, to)),
            lowers(ops.WmmaFillOp, lambda op, to: late.wmmas.fill(op, to)),
            lowers(ops.WmmaLoadOp, lambda op, to: late.wmmas.load(op, to)),
            lowers(ops.WmmaMmaOp, lambda op, to: late.wmmas.mma(op, to)),
            lowers(ops.WmmaStoreOp, lambda op, to: late.wmmas.store(op, to)),
        )
    )
    try:
        Expansion(cache(_expand), handlers).run(kernel.function)
        buffers.finish()
    finally:
        kernel.finish()
