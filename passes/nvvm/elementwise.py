"""`tile.fill`, `tile.elementwise`, `tile.cast`, `tile.slice`, `tile.concat`: within a lane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilec.dialects.tile.ops.elementwise import COMPARISONS, check_kind
from tilec.dialects.tile.tiles import TileValue, tile_value
from tilec.isa import TilecError
from tilec.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .rearrangement import rearranged, repacked
from .registers import Packing, elements, packing, registers_of, scalar, splat


def fill(op: Any, _: Expansion) -> list[Values]:
    """`tile.fill`."""
    packed = packing(_tile(op.results[0]))
    return [[splat(scalar(op.operands[0], packed), packed)] * packed.registers]


def elementwise(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.elementwise`: the upstream op on each register, as a vector where it holds several."""
    tile = _tile(op.results[0])
    packed = packing(tile)
    inputs = [expansion.values(v) for v in op.operands]
    name, attributes = function(op)
    if name in COMPARISONS:
        compared = _tile(op.operands[0])
        check_kind(name, compared.element)
        return [_apply(name, attributes, inputs, packing(compared), packed)]
    check_kind(name, tile.element)  # upstream's op on a tensor may allow more
    if packed.is_sub_byte:
        return [_apply(name, attributes, inputs, packed, packed)]
    type_ = packed.type
    parts = zip(*inputs, strict=True)
    return [[create(name, list(each), type_, **attributes) for each in parts]]


def _apply(
    name: str, attributes: Mapping[str, Any], inputs: list[Values], before: Packing, after: Packing
) -> list[Any]:
    """An op on each element, where LLVM would take a vector of the result apart in memory."""
    held = [elements(registers, before) for registers in inputs]
    values = [
        create(name, list(operands), after.element, **attributes)
        for operands in zip(*held, strict=True)
    ]
    return registers_of(values, after)


def select(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.select`: register by register, or element by element where each has a condition."""
    packed = packing(_tile(op.results[0]))
    conditions, *values = (expansion.values(v) for v in op.operands)
    if isinstance(op.operands[0].type, ir.IntegerType):
        (one,) = conditions
        type_, both = packed.type, zip(*values, strict=True)
        return [[create("llvm.select", [one, *pair], type_) for pair in both]]
    masks = elements(conditions, packing(_tile(op.operands[0])))
    held = [elements(registers, packed) for registers in values]
    chosen = [
        create("llvm.select", list(three), packed.element)
        for three in zip(masks, *held, strict=True)
    ]
    return [registers_of(chosen, packed)]


def cast(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.cast`: as many elements at once as a register of the packed side holds."""
    source, result = _tile(op.operands[0]), _tile(op.results[0])
    before, after = packing(source), packing(result)
    name, attributes = function(op)
    held = expansion.values(op.operands[0])
    if before.is_sub_byte or after.is_sub_byte:
        return [_apply(name, attributes, [held], before, after)]
    size = max(before.per_register, after.per_register)
    count = source.registers // size
    given, wide = Packing(before.element, size, count), Packing(after.element, size, count)
    type_ = wide.type
    converted = [
        create(name, [value], type_, **attributes) for value in repacked(held, before, given)
    ]
    return [repacked(converted, wide, after)]


def cut(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.slice`."""
    tile, index = _tile(op.results[0]), int(op.attributes["index"].value)
    whole, part = packing(_tile(op.operands[0])), packing(tile)
    first = index * tile.registers
    order = range(first, first + tile.registers)
    return [rearranged(expansion.values(op.operands[0]), whole, order, part)]


def concat(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.concat`."""
    whole, part = packing(_tile(op.results[0])), packing(_tile(op.operands[0]))
    joined = [register for v in op.operands for register in expansion.values(v)]
    return [repacked(joined, part, whole)]


def _tile(value: Any) -> TileValue:
    tile = tile_value(value.type)
    if tile is None or not tile.is_fragment:
        raise TilecError("works on fragments here: run tile-to-fragments first")
    return tile


def function(op: Any) -> tuple[str, dict[str, Any]]:
    """The upstream op to apply, and the attributes to give it."""
    found = {
        name: op.attributes[name]
        for name in ("fastmath", "overflowFlags", "predicate", "roundingmode")
        if name in op.attributes
    }
    return ir.StringAttr(op.attributes["fn"]).value, found
