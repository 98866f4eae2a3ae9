"""Transfers of vectors, as loads and stores of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.dialects.tile.emit import emit, emit_effect
from tilec.dialects.tile.ops import LoadOp, StoreOp
from tilec.ir.aliases import Attribute, Value
from tilec.ir.attributes import attribute, is_positive_zero
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from .vector_types import type_of


def _read(op: ir.Operation) -> Value:
    source, *indices, padding = _without_mask(op)
    result = type_of(op.result)
    attributes = _attributes(op, source, result)
    if "masked" in attributes and not _is_nothing(padding):
        raise TilecError(
            "is padded with something other than 0; legal: 0, or in_bounds in all dimensions"
        )
    return emit(LoadOp, [source, *indices], result, **attributes)


def _write(op: ir.Operation) -> None:
    value, target, *indices = _without_mask(op)
    attributes = _attributes(op, target, type_of(value))
    emit_effect(StoreOp, [value, target, *indices], None, **attributes)


def _without_mask(op: ir.Operation) -> list[Value]:
    """The operands of a transfer that has no mask."""
    *_, masks = attribute(op, "operandSegmentSizes", ir.DenseI32ArrayAttr)
    if masks:
        raise TilecError("has a mask; legal: bounds, or arith.select")
    return list(op.operands)


def _attributes(op: ir.Operation, memref: Value, tile: ir.RankedTensorType) -> dict[str, Attribute]:
    """The unit attributes of a load or store that is the transfer `op`."""
    type_ = memref.type
    if not isinstance(type_, ir.MemRefType):
        raise TilecError(f"is of {type_}; legal: a memref")
    if type_.element_type != tile.element_type:
        raise TilecError(f"is of {tile.element_type} in {type_}; legal: of its elements")
    map_ = attribute(op, "permutation_map", ir.AffineMapAttr).value
    found = [
        result.position if isinstance(result, ir.AffineDimExpr) else None for result in map_.results
    ]
    last = list(range(type_.rank))[-tile.rank :]
    units = []
    if found != last:
        if tile.rank < 2 or found != [*last[:-2], last[-1], last[-2]]:
            raise TilecError(
                f"has the map {map_}; legal: to the last dimensions, in order or the last two "
                "swapped"
            )
        units.append("transposed")
    if not all(map(_is_true, attribute(op, "in_bounds", ir.ArrayAttr))):
        units.append("masked")
    return {name: ir.UnitAttr.get() for name in units}


def _is_true(value: Attribute) -> bool:
    return isinstance(value, ir.BoolAttr) and value.value


def _is_nothing(padding: Value) -> bool:
    """Whether elements outside may be read as zero."""
    owner = padding.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "ub.poison":
        return True
    return owner.name == "arith.constant" and is_positive_zero(owner.attributes["value"])


TRANSFERS: Mapping[str, Callable[[ir.Operation], Value | None]] = MappingProxyType(
    {"vector.transfer_read": _read, "vector.transfer_write": _write}
)
"""What emits a transfer anew, its operands being tiles, and gives the result, if there is one."""
