"""Builders of mbarriers and of copies of boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tilec.ir.aliases import Value
from tilec.ir.mlir import ir

from ..ops.barrier import (
    BarrierArriveOp,
    BarrierExpectOp,
    BarrierInitOp,
    BarrierWaitOp,
    TurnOp,
    WarpgroupIdOp,
)
from ..ops.box_modes import LOWER, STEPS, UPPER
from ..ops.launch_control import QueryCancelOp, TryCancelOp
from ..ops.tensor_memory import GROUP
from ..ops.tma import TmaLoadOp, TmaPrefetchOp, TmaReduceOp, TmaStoreOp
from .caller import located
from .emit import Index, emit, emit_all, i64, indices_of

Corners: TypeAlias = tuple[Sequence[int], Sequence[int]]
"""The lower and the upper corner of im2col."""


@located
def barrier_init(barriers: Value, index: Index, count: int) -> None:
    """`tile.barrier_init`: each phase of the mbarrier ends with so many arrivals."""
    emit(BarrierInitOp, [barriers, *indices_of([index])], attributes={"count": i64(count)})


@located
def barrier_arrive(
    barriers: Value,
    index: Index,
    of: Index | None = None,
    *,
    elected: bool = False,
    fenced: bool = False,
    ctas: int | None = None,
) -> None:
    """`tile.barrier_arrive`: one of them, in the own CTA or the cluster's of a rank.

    Args:
        barriers: mbarriers.
        index: which of them.
        of: the rank of the CTA, if it is not the own one.
        elected: whether whole warps come, of which one thread arrives.
        fenced: whether only the asynchronous proxy of the own CTA reads what was written, for which
            that is fenced.
        ctas: those of the cluster, if whole warps come and one thread of each arrives in each CTA.
    """
    flags = {"elected": elected, "fenced": fenced}
    attributes: dict[str, ir.Attribute] = {
        name: ir.UnitAttr.get() for name, given in flags.items() if given
    }
    if ctas is not None:
        attributes["ctas"] = i64(ctas)
    operands = [barriers, *indices_of([index] if of is None else [index, of])]
    emit(BarrierArriveOp, operands, attributes=attributes)


@located
def barrier_expect(barriers: Value, index: Index, count: int) -> None:
    """`tile.barrier_expect`: one of them, with so many bytes that must come, too."""
    emit(BarrierExpectOp, [barriers, *indices_of([index])], attributes={"bytes": i64(count)})


@located
def barrier_wait(barriers: Value, index: Index, parity: Value, *, cluster: bool = False) -> None:
    """`tile.barrier_wait`: until the phase of a parity, an i1, has ended.

    Args:
        barriers: mbarriers.
        index: which of them.
        parity: of the phase.
        cluster: whether threads of other CTAs arrive there.
    """
    attributes = {"cluster": ir.UnitAttr.get()} if cluster else {}
    emit(BarrierWaitOp, [barriers, *indices_of([index]), parity], attributes=attributes)


@located
def warpgroup_id() -> Value:
    """`tile.warpgroup_id`: the number of the warpgroup, of type index."""
    return emit(WarpgroupIdOp, [], ir.IndexType.get())


@located
def turn() -> tuple[Value, Value]:
    """`tile.turn`: the number of the warpgroup among those that take tiles in turn, and theirs."""
    index = ir.IndexType.get()
    number, count = emit_all(TurnOp, [], [index, index], {})
    return number, count


@located
def try_cancel(
    responses: Value, place: Index, barriers: Value, index: Index, *, multicast: bool = False
) -> None:
    """`tile.try_cancel`: ask for a cluster of the grid that has not started.

    Args:
        responses: buffer of responses.
        place: which of them is written.
        barriers: mbarriers.
        index: which of them counts the bytes.
        multicast: whether the response comes to all CTAs of the cluster.
    """
    attributes = {"multicast": ir.UnitAttr.get()} if multicast else {}
    operands = [responses, *indices_of([place]), barriers, *indices_of([index])]
    emit(TryCancelOp, operands, attributes=attributes)


@located
def query_cancel(responses: Value, place: Index) -> tuple[Value, Value, Value, Value]:
    """`tile.query_cancel`: whether a cluster was taken over, an i1, and where it begins.

    Args:
        responses: buffer of responses.
        place: which of them.
    """
    index = ir.IndexType.get()
    types = [ir.IntegerType.get_signless(1), index, index, index]
    operands = [responses, *indices_of([place])]
    canceled, x, y, z = emit_all(QueryCancelOp, operands, types, {})
    return canceled, x, y, z


@located
def tma_load(
    source: Value,
    target: Value,
    barriers: Value,
    *indices: Index,
    shape: Sequence[int],
    element_strides: Sequence[int] = (),
    im2col: Corners | None = None,
    group: int = 1,
) -> None:
    """`tile.tma_load`: a box of an array to shared memory.

    Args:
        source: the array, an argument of the kernel.
        target: the buffer.
        barriers: mbarriers, of which one counts the bytes.
        indices: where the box begins in the array and in the buffer, which mbarrier, the offsets
            of im2col, and the mask of the CTAs of the cluster that it arrives in, if these are not
            the own one alone.
        shape: rows and columns of the box.
        element_strides: of each dimension of the array, every how-manieth element is copied.
        im2col: the lower and the upper corner, if it walks pixels.
        group: 2 if the mbarrier is that of the even CTA of the pair.
    """
    operands = [source, target, barriers, *indices_of(indices)]
    attributes = _box(shape, element_strides, im2col)
    if group != 1:
        attributes[GROUP] = i64(group)
    emit(TmaLoadOp, operands, attributes=attributes)


@located
def tma_store(
    source: Value,
    target: Value,
    *indices: Index,
    shape: Sequence[int],
    element_strides: Sequence[int] = (),
) -> None:
    """`tile.tma_store`: a box from shared memory; indices of the array, then of the buffer."""
    attributes = _box(shape, element_strides)
    emit(TmaStoreOp, [source, target, *indices_of(indices)], attributes=attributes)


@located
def tma_reduce(
    fn: str,
    source: Value,
    target: Value,
    *indices: Index,
    shape: Sequence[int],
    element_strides: Sequence[int] = (),
) -> None:
    """`tile.tma_reduce`: as `tma_store`, by `fn`, such as `add`."""
    attributes = {**_box(shape, element_strides), "fn": ir.StringAttr.get(fn)}
    emit(TmaReduceOp, [source, target, *indices_of(indices)], attributes=attributes)


@located
def tma_prefetch(
    source: Value,
    *indices: Index,
    shape: Sequence[int],
    element_strides: Sequence[int] = (),
    im2col: Corners | None = None,
) -> None:
    """`tile.tma_prefetch`: a box of an array to L2; arguments as of `tma_load`."""
    attributes = _box(shape, element_strides, im2col)
    emit(TmaPrefetchOp, [source, *indices_of(indices)], attributes=attributes)


def _box(
    shape: Sequence[int], element_strides: Sequence[int] = (), im2col: Corners | None = None
) -> dict[str, ir.Attribute]:
    lower, upper = im2col or ((), ())
    given = {"shape": shape, STEPS: element_strides, LOWER: lower, UPPER: upper}
    return {name: ir.DenseI64ArrayAttr.get(list(n)) for name, n in given.items() if n}
