"""Between which barriers of a kernel a buffer in tensor memory is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tilec.dialects.semantics import Resource, Scope, orders, scope_of
from tilec.dialects.tile.ops import AllocTensorOp
from tilec.dialects.tile.ops.tensor_memory import GroupedOp
from tilec.dialects.tile.tensor import buffer_of
from tilec.ir.aliases import Op
from tilec.ir.mlir import ir
from tilec.ir.types import memref_of

from ..base import walk
from .buffer_lifetimes import is_passed_on


@dataclass(frozen=True)
class TensorLifetime:
    """When a buffer is needed.

    Attributes:
        alloc: the `tile.alloc_tensor`.
        number: of it among the kernel's.
        columns: of tensor memory that it takes.
        first, last: spans between barriers of the whole CTA, counted, in which it is touched.
    """

    alloc: AllocTensorOp
    number: int
    columns: int
    first: int
    last: int

    def meets(self, other: TensorLifetime) -> bool:
        """Whether no barrier stands between both."""
        return self.first <= other.last and other.first <= self.last

    @property
    def arithmetic(self) -> str:
        """How many columns it takes, and of what."""
        buffer = buffer_of(memref_of(self.alloc.results[0]))
        many = f"{buffer.count} x " if buffer.count > 1 else ""
        return f"{many}{buffer.matrix_columns} ({buffer.held} {buffer.rows}x{buffer.cols})"


def tensor_lifetimes(function: Op, allocs: Sequence[AllocTensorOp]) -> list[TensorLifetime]:
    """The lifetimes of the buffers of a kernel.

    A barrier counts that stands in the kernel's own block, where all threads come. What is in a
    loop or branch of that block is touched where the loop or branch stands; what other names may
    be used of, all the time.
    """
    spans = _spans(function)
    found = []
    for number, alloc in enumerate(allocs):
        buffer = alloc.results[0]
        touched = [spans[_outermost(use.owner.operation)] for use in buffer.uses]
        if is_passed_on(buffer):
            touched = list(spans.values())
        first, last = min(touched, default=0), max(touched, default=0)
        columns = buffer_of(memref_of(buffer)).columns
        found.append(TensorLifetime(alloc, number, columns, first, last))
    return found


def _spans(function: Op) -> dict[ir.Operation, int]:
    """Of each op of the kernel's block how many barriers of the CTA stand before it."""
    found, count = {}, 0
    for view in function.operation.regions[0].blocks[0].operations:
        found[view.operation] = count
        count += _is_whole(view)
    return found


def _is_whole(op: ir.OpView) -> bool:
    """Whether all threads of the CTA wait for each other: no operand says which, or how many."""
    if scope_of(op) < Scope.WARP or len(op.operands) or not orders(op, Resource.BARRIERS):
        return False
    return "subgroup" not in str(op.attributes.get("scope"))


def _outermost(op: ir.Operation) -> ir.Operation:
    """The op of the kernel's block that an op is, or is inside of."""
    while op.parent is not None and op.parent.name != "gpu.func":
        op = op.parent.operation
    return op


def groups_used(function: Op) -> Iterator[tuple[GroupedOp, int]]:
    """The ops of a kernel that say how many CTAs take part, and how many."""
    for view in walk(function):
        if isinstance(view, GroupedOp):
            yield view, view.group
