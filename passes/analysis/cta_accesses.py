"""Accesses of a CTA to global memory: where they are, and which thread makes which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from tilec.dialects.tile.matrices import in_memory
from tilec.dialects.tile.stored import stored_tile
from tilec.dialects.tile.tiles import tile_value
from tilec.ir.mlir import ir
from tilec.layout import LinearLayout

from .effects import is_global, writes_anything


class Role(Enum):
    """What an access does to memory."""

    READ = "reads"
    WRITE = "writes"
    UPDATE = "updates"


@dataclass(frozen=True, slots=True, eq=False)
class CtaAccess:
    """An access to global memory.

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

    op: ir.Operation
    role: Role
    memref: ir.Value | None
    indices: tuple[ir.Value, ...] = ()
    extents: tuple[int, ...] = ()
    owner: LinearLayout | None = None
    of_cta: bool = False
    asynchronous: bool = False
    function: str = ""


_TILES = {"tile.load": Role.READ, "tile.store": Role.WRITE, "tile.atomic": Role.UPDATE}
_SCALARS = {"memref.load": Role.READ, "memref.store": Role.WRITE}
_OTHERS = {
    "gpu.subgroup_mma_load_matrix": Role.READ,
    "gpu.subgroup_mma_store_matrix": Role.WRITE,
    "tile.wmma_load": Role.READ,
    "tile.wmma_store": Role.WRITE,
    "vector.load": Role.READ,
    "vector.store": Role.WRITE,
}


def accesses_of(op: ir.Operation) -> list[CtaAccess]:
    """The accesses to global memory of an op itself, not of those inside it."""
    name = op.name
    if name in _TILES:
        return _of_tile(op, _TILES[name])
    if name == "tile.async_copy":
        return [_of_copy(op)]
    if name in _SCALARS or name in _OTHERS:
        return _of_threads(op, _SCALARS.get(name) or _OTHERS[name])
    return [CtaAccess(op, Role.WRITE, None)] if writes_anything(op) else []


def _of_tile(op: ir.Operation, role: Role) -> list[CtaAccess]:
    if role is Role.READ:
        value, (memref, *indices) = op.results[0], op.operands
    else:
        value, memref, *indices = op.operands
    if not is_global(memref):
        return []
    function = str(op.attributes["fn"]) if role is Role.UPDATE else ""
    tile = tile_value(value.type)
    if tile is None or tile.is_fragment:  # a warp's, at a place of its own
        return [CtaAccess(op, role, memref, function=function)]
    transposed = "transposed" in op.attributes
    layout = in_memory(stored_tile(tile, transposed=transposed), transposed=transposed)
    extents = tuple(layout.out_sizes.values())
    leading = (1,) * (len(indices) - len(extents))
    owner = owner_of(layout, reads=role is Role.READ)
    return [
        CtaAccess(
            op, role, memref, tuple(indices), leading + extents, owner, True, function=function
        )
    ]


def _of_threads(op: ir.Operation, role: Role) -> list[CtaAccess]:
    memref, *indices = op.operands if role is Role.READ else list(op.operands)[1:]
    if not is_global(memref):
        return []
    where = tuple(indices) if op.name in _SCALARS else ()
    return [CtaAccess(op, role, memref, where, (1,) * len(where))]


def _of_copy(op: ir.Operation) -> CtaAccess:
    source, _, *indices = op.operands
    rank = source.type.rank
    extents = tuple(ir.DenseI64ArrayAttr(op.attributes["shape"]))
    where = tuple(indices[:rank])
    leading = (1,) * (rank - len(extents))
    return CtaAccess(
        op, Role.READ, source, where, leading + extents, of_cta=True, asynchronous=True
    )


@lru_cache(maxsize=1024)
def owner_of(layout: LinearLayout, *, reads: bool) -> LinearLayout | None:
    """The thread that accesses each element of a tile, if it is one: place -> (lane, warp).

    Of threads that hold the same elements all load them, and the first stores them.
    """
    if reads and (layout.free("lane") or layout.free("warp")):
        return None
    return layout.right_inverse().restrict(outs=("lane", "warp"))
