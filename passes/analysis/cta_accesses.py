"""Accesses of a CTA to memory that kernels name: where they are, and which thread makes which.

That is global memory, and arrays in shared memory (`#gpu.address_space<workgroup>`); of buffers in
`#tile.shared` the passes take care that fill them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from tilec.dialects.semantics import Access, Resource, Touch, resource_of, root_memory, semantics_of
from tilec.dialects.semantics.effects import is_shared_array
from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.ops import AsyncCopyOp
from tilec.dialects.tile.ops.memory import MemoryOp
from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import TileValue, tile_value
from tilec.ir.mlir import ir
from tilec.isa import Target
from tilec.layout import LinearLayout

from .async_copies import is_asynchronous


class Role(Enum):
    """What an access does to memory."""

    READ = "reads"
    WRITE = "writes"
    UPDATE = "updates"


@dataclass(frozen=True, slots=True, eq=False)
class CtaAccess:
    """An access to global memory, or to an array in shared memory.

    Attributes:
        op: the op.
        role: what it does.
        memref: the memory; None for any.
        indices: of the first element, one a dimension; none if it may be anywhere.
        extents: elements of each dimension.
        owner: place -> (lane, warp), the one thread that accesses an element; None if several do,
            or it is not known which.
        of_cta: whether it is the CTA's, shared out by tilec, rather than each thread's own.
        asynchronous: whether it goes on after the op, until a wait.
        function: of an update, what is applied.
    """

    op: ir.OpView
    role: Role
    memref: ir.Value | None
    indices: tuple[ir.Value, ...] = ()
    extents: tuple[int, ...] = ()
    owner: LinearLayout | None = None
    of_cta: bool = False
    asynchronous: bool = False
    function: str = ""


def accesses_of(op: ir.OpView, target: Target | None) -> list[CtaAccess]:
    """The accesses of an op itself, not of those inside it.

    Args:
        op: the op.
        target: what the kernel is for.
    """
    declared = semantics_of(op).effects
    if declared is None:
        return [CtaAccess(op, Role.WRITE, None)]
    touched = [touch for touch in declared if _is_ordered(touch, op)]
    if not touched:
        return []
    if isinstance(op, MemoryOp):
        return [_of_tile(op, touched)]
    if isinstance(op, AsyncCopyOp):
        return [_of_copy(op, target)]
    return [_of_threads(op, touch) for touch in touched]


def _is_ordered(touch: Touch, op: ir.OpView) -> bool:
    """Whether a declared effect of an op reads or writes memory whose order is for us to keep."""
    if touch.access is not Access.READ and touch.access is not Access.WRITE:
        return False
    if touch.operand is None:
        return touch.resource is Resource.GLOBAL
    memref = op.operands[touch.operand]
    if is_shared_array(memref.type):
        return True
    return resource_of(memref.type) is Resource.GLOBAL and not _is_private(memref)


def _is_private(memref: ir.Value) -> bool:
    """Whether a memref is one that each thread has set aside for itself."""
    owner = root_memory(memref).owner
    if isinstance(owner, ir.Block):
        return False
    own = Touch(Access.ALLOCATE, Resource.LOCAL)
    return own in (semantics_of(owner).effects or ())


def _role(touched: list[Touch]) -> Role:
    return Role.WRITE if any(t.access is Access.WRITE for t in touched) else Role.READ


def _of_tile(op: MemoryOp, touched: list[Touch]) -> CtaAccess:
    function = op.update or ""
    role = Role.UPDATE if function else _role(touched)
    tile = tile_value(op.tile.type)
    if tile is None or tile.is_fragment:  # a warp's, at a place of its own
        return CtaAccess(op, role, op.memref, function=function)
    if op.by_element:  # at places that are known when it runs
        return CtaAccess(op, role, op.memref, of_cta=True, function=function)
    indices, layout = tuple(op.indices), _memory_layout(tile, transposed=op.is_transposed)
    extents = tuple(layout.out_sizes.values())
    leading = (1,) * (len(indices) - len(extents))
    owner = owner_of(layout, reads=role is Role.READ)
    return CtaAccess(
        op, role, op.memref, indices, leading + extents, owner, of_cta=True, function=function
    )


def _memory_layout(tile: TileValue, *, transposed: bool) -> LinearLayout:
    """Who holds which element, in the units and the order of memory."""
    return in_memory(stored_tile(tile, transposed=transposed), transposed=transposed)


def _of_copy(op: AsyncCopyOp, target: Target | None) -> CtaAccess:
    indices, extents = tuple(op.source_indices), tuple(ir.DenseI64ArrayAttr(op.shape))
    leading = (1,) * (len(indices) - len(extents))
    return CtaAccess(
        op,
        Role.READ,
        op.operands[0],
        indices,
        leading + extents,
        of_cta=True,
        asynchronous=is_asynchronous(op, target),
    )


def _of_threads(op: ir.OpView, touch: Touch) -> CtaAccess:
    """An access that each thread makes for itself: of one element, where the indices say of which.

    That is where an index for each dimension follows the memref, and no vector or tile is moved.
    """
    if touch.operand is None:
        return CtaAccess(op, _role([touch]), None)
    operands = list(op.operands)
    memref, after = operands[touch.operand], operands[touch.operand + 1 :]
    rank = ir.MemRefType(memref.type).rank if isinstance(memref.type, ir.MemRefType) else -1
    values = [v for v in (*operands, *op.results) if not isinstance(v.type, _SCALARS)]
    is_element = len(after) == rank and all(isinstance(i.type, ir.IndexType) for i in after)
    if values or not is_element:
        return CtaAccess(op, _role([touch]), memref)
    return CtaAccess(op, _role([touch]), memref, tuple(after), (1,) * rank)


_SCALARS = (ir.IntegerType, ir.FloatType, ir.IndexType, ir.MemRefType)
"""What the other values of an access to one element are."""


@lru_cache(maxsize=1024)
def owner_of(layout: LinearLayout, *, reads: bool) -> LinearLayout | None:
    """The thread that accesses each element of a tile, if it is one: place -> (lane, warp).

    Of threads that hold the same elements all load them, and the first stores them.
    """
    if reads and (layout.free("lane") or layout.free("warp")):
        return None
    return layout.right_inverse().restrict(outs=("lane", "warp"))
