"""Which ops may write global memory, and whether loads may be moved past them."""

from __future__ import annotations

from collections.abc import Container, Iterable

from tilec.dialects.semantics import (
    Access,
    Resource,
    finds,
    is_function,
    is_ordering,
    root_memory,
    semantics_of,
    writes,
)
from tilec.dialects.semantics.effects import is_shared_array, resource_of
from tilec.ir.aliases import Op
from tilec.ir.attributes import signature
from tilec.ir.mlir import ir

from ..base import walk
from .memory_facts import argument_attributes


class Writers:
    """What writes global memory in one kernel.

    Args:
        function: the kernel.
    """

    def __init__(self, function: ir.OpView) -> None:
        ops = list(walk(function))
        self._all = [op for op in ops if any(True for _ in _written(op))]
        self._waits = any(map(_waits, ops))

    def before(self, ops: Iterable[Op], memref: ir.Value, *, but: Container[Op] = ()) -> Op | None:
        """What a load after `ops`, the first of the kernel, may not be moved in front of, or None.

        Where nothing among them writes global memory, or may do anything, none of them can have
        waited for another's writes, and what orders memory orders none; but for what waits for
        other kernels.

        Args:
            ops: at the beginning of the kernel.
            memref: what is loaded.
            but: ops among them, and in what they hold, that do not count.
        """
        ops = list(ops)
        inner = (one for op in ops for one in (op, *walk(op.operation)))
        counted = (op for op in inner if op.operation not in but)
        if not any(_waits(op) or any(True for _ in _written(op)) for op in counted):
            return None
        return self.between(ops, memref, but=but)

    def between(self, ops: Iterable[Op], memref: ir.Value, *, but: Container[Op] = ()) -> Op | None:
        """The first op in or inside `ops` past which no load from `memref` may be moved, or None.

        That is one that may write what `memref` points to, or that waits for other kernels, which
        may have; or, where anything in the kernel may, one that orders memory.
        """
        hazard = any(_clash(writer, memref) for writer in self._all)
        for op in ops if hazard or self._waits else ():
            for inner in (op, *walk(op.operation)):
                if inner.operation in but:
                    continue
                if _waits(inner) or (hazard and (_clash(inner, memref) or is_ordering(inner))):
                    return inner
        return None


def is_shared(memref: ir.Value) -> bool:
    """Whether a memref is a buffer, or an array, in shared memory."""
    return resource_of(memref.type) is Resource.SHARED


def is_buffer(memref: ir.Value) -> bool:
    """Whether a memref is a buffer in shared memory, whose swizzle says where elements lie."""
    return is_shared(memref) and not is_shared_array(memref.type)


def _waits(op: Op) -> bool:
    """Whether an op may let the kernel see what others, which ran before, have written."""
    return is_ordering(op) and finds(op)


def _written(op: Op) -> Iterable[ir.Value | None]:
    """The global memory that `op` itself may write: memrefs, None for any."""
    return writes(op, Resource.GLOBAL)


def _clash(writer: Op, memref: ir.Value) -> bool:
    """Whether `writer` may write what `memref` points to."""
    return any(target is None or may_alias(target, memref) for target in _written(writer))


def may_alias(one: ir.Value, other: ir.Value) -> bool:
    """Whether two memrefs may share memory.

    Two arguments of a kernel may, unless one of them is `llvm.noalias`; a memref that is chosen at
    run time may be any of them. Two that the kernel sets aside may not.
    """
    mine, its = root_memory(one), root_memory(other)
    if resource_of(mine.type) is not resource_of(its.type):
        return False
    if mine != its and _is_set_aside(mine) and _is_set_aside(its):
        return False
    if mine == its or not (_is_argument(mine) and _is_argument(its)):
        return True
    return not (is_alone(mine) or is_alone(its))


def _is_set_aside(memref: ir.Value) -> bool:
    """Whether a memref is memory of its own: what an op allocates, or a kernel declares."""
    owner = memref.owner
    if not isinstance(owner, ir.Block):
        declared = semantics_of(owner).effects or ()
        return any(touch.access is Access.ALLOCATE for touch in declared)
    function = owner.owner
    if not is_function(function) or function.operation.name != "gpu.func":
        return False
    return ir.BlockArgument(memref).arg_number >= len(signature(function).inputs)


def _is_argument(memref: ir.Value) -> bool:
    """Whether a memref is one that the function is called with."""
    block = memref.owner
    return isinstance(block, ir.Block) and is_function(block.owner)


def is_alone(memref: ir.Value) -> bool:
    """Whether no other argument points to the same memory."""
    return "llvm.noalias" in argument_attributes(memref)
