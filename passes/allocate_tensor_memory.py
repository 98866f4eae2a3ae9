"""`tile-allocate-tensor-memory`: columns of tensor memory for every buffer of a kernel."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, permutations
from typing import ClassVar

from tilec.dialects.tile.dialect import SharedAttr
from tilec.dialects.tile.emit import emit, emit_effect, i64
from tilec.dialects.tile.ops import (
    AllocSharedOp,
    AllocTensorOp,
    Tcgen05AllocOp,
    Tcgen05DeallocOp,
    Tcgen05FenceOp,
    Tcgen05RelinquishOp,
    TensorBufferOp,
)
from tilec.dialects.tile.ops.tensor_memory import GROUP
from tilec.ir.aliases import Op, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith, gpu, nvvm, scf
from tilec.ir.types import i32
from tilec.isa import LANES
from tilec.isa.wording import counted

from .analysis.tensor_lifetimes import TensorLifetime, groups_used, tensor_lifetimes
from .base import Diagnostic
from .emit import index_constant
from .kernel_pass import Kernel, KernelPass

ALIGNMENT = 4
"""Columns at whose multiples a buffer begins, as metadata and scale factors want."""
_ORDERS = 5040
"""Orders in which buffers are placed at most: all of seven."""
_Placed = tuple[int, TensorLifetime]
"""A first column, and the buffer that lies there."""


class AllocateTensorMemory(KernelPass):
    """Find columns for every `tile.alloc_tensor`, and allocate them once a kernel.

    In and out: level 3. Warp 0 allocates a power of two of columns, at least 32, at the
    position of the first buffer, and deallocates them where the kernel returns; barriers make
    the address known to all threads. A `tile.tensor_buffer` replaces each `tile.alloc_tensor`.

    Two buffers share columns if a barrier of the CTA, outside of branches, separates all
    accesses to one from all accesses to the other; branches may belong to warps that work at
    the same time. Asynchronous operations must have been waited for before that barrier. If an
    SM does not have enough columns, the error lists the buffers and their sum.
    """

    name: ClassVar[str] = "tile-allocate-tensor-memory"

    def run(self, kernel: Kernel) -> None:
        """Place the buffers of a kernel."""
        allocs = kernel.named(AllocTensorOp)
        if not allocs:
            return
        body = kernel.function.regions[0].blocks[0]
        for alloc in allocs:
            if alloc.operation.block != body:
                kernel.error(alloc, "stands in a branch or loop; legal: at the top of the kernel")
        group = _group(kernel, allocs)
        if kernel.errors:
            return
        placed = _place(tensor_lifetimes(kernel.function, allocs))
        columns = _allocation(kernel, placed)
        if columns is not None:
            _rewrite(kernel, placed, columns, group)


def _group(kernel: Kernel, allocs: list[AllocTensorOp]) -> int:
    """The CTAs that allocate together: all instructions of a kernel must agree."""
    group = allocs[0].group
    for op, own in groups_used(kernel.function):
        if own != group:
            kernel.error(
                op,
                f"has cta_group::{own} in a kernel whose tensor memory is allocated with "
                f"cta_group::{group}; legal: one for all of a kernel",
                notes=(Diagnostic(allocs[0].location, "the first buffer is here", "note"),),
            )
            break
    return group


def _place(buffers: list[TensorLifetime]) -> list[_Placed]:
    """A first column for each buffer; large ones first, so that small ones fill gaps.

    If that takes more columns than there are, other orders are tried, of few buffers all.
    """
    from tilec.isa.tensor_memory import COLUMNS  # noqa: PLC0415 (for Blackwell only)

    by_size = sorted(buffers, key=lambda one: -one.columns)
    found = _in_order(by_size)
    if _end_of(found) > COLUMNS:
        others = map(_in_order, islice(permutations(by_size), _ORDERS))
        found = next((one for one in others if _end_of(one) <= COLUMNS), found)
    return found


def _in_order(buffers: Iterable[TensorLifetime]) -> list[_Placed]:
    """The lowest column for each buffer, one after the other."""
    placed: list[_Placed] = []
    for buffer in buffers:
        at = 0
        for first, other in sorted(placed, key=lambda pair: pair[0]):
            if buffer.meets(other) and first < at + buffer.columns:
                at = max(at, _aligned(first + other.columns))
        placed.append((at, buffer))
    return placed


def _end_of(placed: list[_Placed]) -> int:
    """Columns that buffers take where they lie."""
    return max(at + one.columns for at, one in placed)


def _aligned(column: int) -> int:
    return -(-column // ALIGNMENT) * ALIGNMENT


def _allocation(kernel: Kernel, placed: list[_Placed]) -> int | None:
    """Columns to ask for; None if there are not so many, which is an error."""
    from tilec.isa.tensor_memory import ALLOCATIONS, COLUMNS  # noqa: PLC0415 (for Blackwell only)

    needed = _end_of(placed)
    apart = sum(_aligned(one.columns) for _, one in placed)
    if needed > COLUMNS:
        _refuse(kernel, [one for _, one in placed], needed, COLUMNS)
        return None
    columns = next(size for size in ALLOCATIONS if size >= needed)
    shared = f"; apart its buffers take {apart}" if apart > needed else ""
    kernel.remark(
        placed[0][1].alloc,
        f"is of {counted(needed, 'column')} of tensor memory, for which {columns} are "
        f"allocated{shared}",
    )
    return columns


def _refuse(kernel: Kernel, buffers: list[TensorLifetime], needed: int, there: int) -> None:
    """Say which buffers are needed at the same time, where they take most."""
    times = [[one for one in buffers if one.first <= at.first <= one.last] for at in buffers]
    most = max(times, key=lambda together: sum(one.columns for one in together))
    *others, last = sorted(most, key=lambda one: one.number)
    total = sum(one.columns for one in most)
    terms = " + ".join(one.arithmetic for one in (*others, last))
    gaps = "" if total > there else f", and {needed} with the gaps between them"
    kernel.error(
        last.alloc,
        f"brings the kernel's tensor memory to {terms} = {total} columns, needed at the same "
        f"time{gaps}; an SM has {there}",
        notes=tuple(
            Diagnostic(one.alloc.location, f"{counted(one.columns, 'column')} are here", "note")
            for one in others
        ),
    )


def _rewrite(kernel: Kernel, placed: list[_Placed], columns: int, group: int) -> None:
    """Allocate, put buffers in place, and give columns back."""
    pair = group > 1
    first = min((one for _, one in placed), key=lambda one: one.number).alloc
    with ir.InsertionPoint(first), first.location:
        slot = emit(AllocSharedOp, [], _slot_type())
        with scf.if_(_is_first_warp()):
            _of_pair(emit_effect(Tcgen05AllocOp, [slot], columns=i64(columns)), pair)
            _of_pair(emit_effect(Tcgen05RelinquishOp), pair)
        _meet()
    for at, one in placed:
        with ir.InsertionPoint(one.alloc), one.alloc.location:
            made = emit(TensorBufferOp, [slot], one.alloc.results[0].type, column=i64(at))
        one.alloc.results[0].replace_all_uses_with(made)
        one.alloc.operation.erase()
    end = _end(kernel.function)
    with ir.InsertionPoint(end), end.location:
        _meet(pair=pair)
        with scf.if_(_is_first_warp()):
            _of_pair(emit_effect(Tcgen05DeallocOp, [slot], columns=i64(columns)), pair)


def _of_pair(op: ir.Operation, pair: bool) -> None:
    """Let an op be of both CTAs of a pair."""
    if pair:
        op.attributes[GROUP] = i64(2)


def _slot_type() -> ir.MemRefType:
    space = SharedAttr.get(ir.StringAttr.get("none"))
    return ir.MemRefType.get([1, 1], i32(), memory_space=space)


def _is_first_warp() -> Value:
    thread = gpu.thread_id(gpu.Dimension.X)
    return arith.cmpi(arith.CmpI.ULT, thread, index_constant(LANES))


def _meet(*, pair: bool = False) -> None:
    """All threads of the CTA, or of both of a pair, see what was done in tensor memory."""
    emit_effect(Tcgen05FenceOp, side=ir.StringAttr.get("before"))
    if pair:
        nvvm.cluster_barrier()
    else:
        gpu.barrier()
    emit_effect(Tcgen05FenceOp, side=ir.StringAttr.get("after"))


def _end(function: Op) -> ir.Operation:
    """Where a kernel returns: a function has one return, at the end of its block."""
    block = function.operation.regions[0].blocks[0]
    return block.operations[len(block.operations) - 1].operation
