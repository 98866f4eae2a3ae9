"""How wide accesses to global memory have become, and what keeps them from being wider."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from tilec.dialects.tile.ops import GatherOp, LoadOp, ScatterOp, StoreOp
from tilec.dialects.tile.ops.memory import vector_of
from tilec.dialects.tile.tiles import bits_of
from tilec.ir.aliases import Attribute, Location, Value
from tilec.ir.types import element_of

from ..analysis.contiguity import ACCESS_BYTES, contiguous, together, why_narrow
from ..analysis.effects import is_shared
from ..base import RemarkKind, remark

Access: TypeAlias = LoadOp | StoreOp | GatherOp | ScatterOp
Key: TypeAlias = tuple[Attribute, str, Value]
"""The place of an op in the program, its name, and the memory."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The accesses that an op of the program has become.

    Attributes:
        location: of the op.
        sizes: bytes of an access, each size once.
        reason: why the first is narrow; empty if it is as wide as any.
    """

    location: Location
    sizes: set[int]
    reason: str


class AccessRemarks:
    """Collects the accesses of one kernel by the op of the program that they come from."""

    def __init__(self) -> None:
        self._found: dict[Key, _Found] = {}

    def note(self, op: Access, size: int) -> None:
        """Say that a fragment's elements move so many bytes at a time.

        Args:
            op: the access of the fragment.
            size: bytes of each of its instructions.
        """
        memref = op.memref
        if is_shared(memref):
            return
        location = op.location
        key = location.attr, op.operation.name, memref
        found = self._found.get(key)
        if found is None:
            self._found[key] = _Found(location, {size}, _why(op, size))
        else:
            found.sizes.add(size)

    def explain(self, function: str) -> None:
        """Remark on each op, in the kernel of this name."""
        for (_, name, _), found in self._found.items():
            sizes = " and ".join(str(size) for size in sorted(found.sizes, reverse=True))
            text = f"'{name}' op takes {sizes} byte{'s' * (sizes != '1')} at a time"
            text += f"; {found.reason}" if found.reason else ""
            remark(found.location, text, kind=RemarkKind.ANALYSIS, function=function)


def _why(op: Access, size: int) -> str:
    """What keeps an access from taking more bytes."""
    if size >= ACCESS_BYTES:
        return ""
    memref, vector = op.memref, vector_of(op)
    if size * 8 < vector * bits_of(element_of(memref.type)):
        return "a thread has no more aligned consecutive elements"
    known = contiguous(memref)
    if vector > known:
        return "'vector' guarantees no more"
    if vector < known:
        if "masked" in op.attributes and vector == together(memref):
            return "no more are known to be in bounds together (tile.sizes may guarantee more)"
        if op.by_element:
            return "no more are known to share an index and the value of the mask"
        return "that is a row of its tile, or what 'vector' says"
    return why_narrow(memref)
