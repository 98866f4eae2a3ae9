"""Builders of mbarriers and of copies of boxes."""

from __future__ import annotations

from collections.abc import Sequence

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir

from ..ops.barrier import (
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    WarpgroupIdOp,
)
from ..ops.tma import TmaLoadOp, TmaPrefetchOp, TmaReduceOp, TmaStoreOp
from .caller import located
from .emit import Index, emit, i64, indices_of


@located
def barrier_init(barriers: Value, index: Index, count: int) -> None:
    """`tile.barrier_init`: each phase of the mbarrier ends with so many arrivals."""
    emit(BarrierInitOp, [barriers, *indices_of([index])], attributes={"count": i64(count)})


@located
def barrier_arrive(barriers: Value, index: Index) -> None:
    """`tile.barrier_arrive`: one of them."""
    emit(BarrierArriveOp, [barriers, *indices_of([index])])


@located
def barrier_expect(barriers: Value, index: Index, count: int) -> None:
    """`tile.barrier_expect`: one of them, with so many bytes that must come, too."""
    emit(BarrierExpectOp, [barriers, *indices_of([index])], attributes={"bytes": i64(count)})


@located
def barrier_wait(barriers: Value, index: Index, parity: Value) -> None:
    """`tile.barrier_wait`: until the phase of a parity, an i1, has ended."""
    emit(BarrierWaitOp, [barriers, *indices_of([index]), parity])


@located
def warpgroup_id() -> Value:
    """`tile.warpgroup_id`: the number of the warpgroup, of type index."""
    return emit(WarpgroupIdOp, [], ir.IndexType.get())


@located
def tma_load(
    source: Value, target: Value, barriers: Value, *indices: Index, shape: Sequence[int]
) -> None:
    """`tile.tma_load`: a box of an array to shared memory.

    Args:
        source: the array, an argument of the kernel.
        target: the buffer.
        barriers: mbarriers, of which one counts the bytes.
        indices: where the box begins in the array and in the buffer, and which mbarrier.
        shape: rows and columns of the box.
    """
    emit(TmaLoadOp, [source, target, barriers, *indices_of(indices)], attributes=_box(shape))


@located
def tma_store(source: Value, target: Value, *indices: Index, shape: Sequence[int]) -> None:
    """`tile.tma_store`: a box from shared memory; indices of the array, then of the buffer."""
    emit(TmaStoreOp, [source, target, *indices_of(indices)], attributes=_box(shape))


@located
def tma_reduce(
    fn: str, source: Value, target: Value, *indices: Index, shape: Sequence[int]
) -> None:
    """`tile.tma_reduce`: as `tma_store`, by `fn`, such as `add`."""
    attributes = {**_box(shape), "fn": ir.StringAttr.get(fn)}
    emit(TmaReduceOp, [source, target, *indices_of(indices)], attributes=attributes)


@located
def tma_prefetch(source: Value, *indices: Index, shape: Sequence[int]) -> None:
    """`tile.tma_prefetch`: a box of an array to L2."""
    emit(TmaPrefetchOp, [source, *indices_of(indices)], attributes=_box(shape))


def _box(shape: Sequence[int]) -> dict[str, ir.Attribute]:
    return {"shape": ir.DenseI64ArrayAttr.get(list(shape))}
