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
        "memref.reinterpret_cast",
        "memref.subview",
    }
)
_STORES = {"tile.store": 1, "tile.stmatrix": 1, "tile.wmma_store": 1, "tile.atomic": 1}
"""Ops that write the memref that is this operand of theirs."""
_ORDERS = ("gpu.barrier", "nvvm.barrier", "nvvm.membar", "nvvm.fence")
"""Beginnings of the names of ops that order what others write."""
_OTHERS = ("llvm.", "nvvm.", "func.call", "vector.", "memref.")
"""Beginnings of the names of ops of which some write memory, not known which."""
_HARMLESS = _VIEWS | {"memref.dim", "memref.load", "vector.load"}


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


def _written(op: Any) -> Any:
    """The global memory that `op` itself may write: a memref, True for any, None for none."""
    name = op.operation.name
    if name in _STORES:
        target = op.operation.operands[_STORES[name]]
        return None if is_shared(target) else target
    if name == "memref.store":
        return op.operation.operands[1]
    if name in _HARMLESS or name.startswith(_ORDERS):
        return None
    return True if name.startswith(_OTHERS) else None


def _clash(writer: Any, memref: Any) -> bool:
    """Whether `writer` may write what `memref` points to."""
    target = _written(writer)
    if target is None or target is True:
        return bool(target)
    mine, its = _root(memref), _root(target)
    return mine == its or not (_alone(mine) or _alone(its))


def _root(memref: Any) -> Any:
    """The memref that a view is taken of."""
    while not isinstance(memref.owner, ir.Block) and memref.owner.name in _VIEWS:
        memref = memref.owner.operands[0]
    return memref


def _alone(memref: Any) -> bool:
    """Whether no other argument points to the same memory."""
    return "llvm.noalias" in argument_attributes(memref)
