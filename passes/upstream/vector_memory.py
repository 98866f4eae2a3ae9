"""Transfers of vectors, as loads and stores of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import LoadOp, StoreOp
from tilec.ir.mlir import ir
from tilec.isa import TilecError


def _read(op: Any) -> Any:
    source, *indices, padding = _without_mask(op)
    result = op.results[0].type
    attributes = _attributes(op, source, result)
    if "masked" in attributes and not _is_nothing(padding):
        raise TilecError(
            "is padded with something else than 0; legal: 0, or in_bounds in all dimensions"
        )
    return emit(LoadOp, [source, *indices], result, **attributes)


def _write(op: Any) -> None:
    value, target, *indices = _without_mask(op)
    attributes = _attributes(op, target, value.type)
    emit_effect(StoreOp, [value, target, *indices], **attributes)


def _without_mask(op: Any) -> list[Any]:
    """The operands of a transfer that has no mask."""
    if list(op.attributes["operandSegmentSizes"])[-1]:
        raise TilecError("has a mask; legal: bounds, or arith.select")
    return list(op.operands)


def _attributes(op: Any, memref: Any, tile: Any) -> dict[str, Any]:
    """The unit attributes of a load or store that is the transfer `op`."""
    if not isinstance(memref.type, ir.MemRefType):
        raise TilecError(f"is of {memref.type}; legal: a memref")
    if memref.type.element_type != tile.element_type:
        raise TilecError(f"is of {tile.element_type} in {memref.type}; legal: of its elements")
    map_ = op.attributes["permutation_map"].value
    found = [
        result.position if isinstance(result, ir.AffineDimExpr) else None for result in map_.results
    ]
    last = list(range(memref.type.rank))[-tile.rank :]
    units = []
    if found != last:
        if tile.rank < 2 or found != [*last[:-2], last[-1], last[-2]]:
            raise TilecError(
                f"has the map {map_}; legal: to the last dimensions, in order or the last two "
                "swapped"
            )
        units.append("transposed")
    if not all(bound.value for bound in op.attributes["in_bounds"]):
        units.append("masked")
    return {name: ir.UnitAttr.get() for name in units}


def _is_nothing(padding: Any) -> bool:
    """Whether elements outside may be read as zero."""
    owner = padding.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "ub.poison":
        return True
    value = owner.attributes["value"] if owner.name == "arith.constant" else None
    return value is not None and value.value == 0 and not str(value).startswith("-")


TRANSFERS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {"vector.transfer_read": _read, "vector.transfer_write": _write}
)
"""What emits a transfer anew, its operands being tiles, and gives the result, if there is one."""
