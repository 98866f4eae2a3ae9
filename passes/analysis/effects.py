"""Which ops may write global memory, and whether loads may be moved past them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tilec.dialects.tile.dialect import SharedAttr
from tilec.ir.mlir import ir

from ..base import walk
from .memory_facts import argument_attributes

_VIEWS = frozenset(
    {
        "memref.assume_alignment",
        "memref.cast",
        "memref.extract_strided_metadata",
        "memref.reinterpret_cast",
        "memref.subview",
    }
)
_STORES = {
    "gpu.subgroup_mma_store_matrix": 1,
    "memref.store": 1,
    "tile.atomic": 1,
    "tile.stmatrix": 1,
    "tile.store": 1,
    "tile.wmma_store": 1,
}
"""Ops that write the memref that is this operand of theirs."""
_ORDERS = ("gpu.barrier", "nvvm.barrier", "nvvm.membar", "nvvm.fence")
"""Beginnings of the names of ops that order what others write."""
_OTHERS = ("llvm.", "nvvm.", "func.call", "vector.", "memref.")
"""Beginnings of the names of ops of which some write memory, not known which."""
_HARMLESS = _VIEWS | {"memref.dim", "memref.load", "vector.load"}
_VALUES = ("llvm.mlir.", "nvvm.read.ptx.sreg.")
"""Beginnings of the names of ops that only give a value."""


class Writers:
    """What writes global memory in one kernel.

    Args:
        function: the kernel.
    """

    def __init__(self, function: Any) -> None:
        self._all = [op for op in walk(function) if _written(op) is not None]

    def between(self, ops: Iterable[Any], memref: Any) -> Any:
        """The first op in or inside `ops` past which no load from `memref` may be moved, or None.

        That is one that may write what `memref` points to, or, where anything in the kernel may,
        one that orders memory.
        """
        hazard = any(_clash(writer, memref) for writer in self._all)
        for op in ops if hazard else ():
            for inner in (op, *walk(op.operation)):
                if _clash(inner, memref) or inner.operation.name.startswith(_ORDERS):
                    return inner
        return None


def is_shared(memref: Any) -> bool:
    """Whether a memref is a buffer in shared memory."""
    return isinstance(memref.type.memory_space, SharedAttr)


def is_global(memref: Any) -> bool:
    """Whether a memref may lie in global memory."""
    space = memref.type.memory_space
    if isinstance(space, ir.IntegerAttr):
        return int(space.value) <= 1
    owner = root_of(memref).owner
    private = not isinstance(owner, ir.Block) and owner.name == "memref.alloca"
    return (space is None or "global" in str(space)) and not private


def writes_anything(op: Any) -> bool:
    """Whether an op may write global memory, not known which."""
    return _written(op) is True


def _written(op: Any) -> Any:
    """The global memory that `op` itself may write: a memref, True for any, None for none."""
    name = op.operation.name
    if name in _STORES:
        target = op.operation.operands[_STORES[name]]
        return target if is_global(target) else None
    if name in _HARMLESS or name.startswith(_ORDERS + _VALUES):
        return None
    return True if name.startswith(_OTHERS) else None


def _clash(writer: Any, memref: Any) -> bool:
    """Whether `writer` may write what `memref` points to."""
    target = _written(writer)
    if target is None or target is True:
        return bool(target)
    return may_overlap(memref, target)


def may_overlap(one: ir.Value, other: ir.Value) -> bool:
    """Whether two memrefs may have elements in common.

    Two arguments of a kernel may, unless one of them shares no memory with others, which is what
    `llvm.noalias` says; a memref that is chosen at run time may be any of them.
    """
    mine, its = root_of(one), root_of(other)
    if mine == its or not (_is_argument(mine) and _is_argument(its)):
        return True
    return not (is_alone(mine) or is_alone(its))


def _is_argument(memref: ir.Value) -> bool:
    """Whether a memref is one that the kernel is called with."""
    block = memref.owner
    return isinstance(block, ir.Block) and bool(block.owner.operation.name == "gpu.func")


def root_of(memref: Any) -> Any:
    """The memref that a view is taken of."""
    while not isinstance(memref.owner, ir.Block) and memref.owner.name in _VIEWS:
        memref = memref.owner.operands[0]
    return memref


def is_alone(memref: Any) -> bool:
    """Whether no other argument points to the same memory."""
    return "llvm.noalias" in argument_attributes(memref)
