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
from .registers import Packing, bitcast, elements, packing, registers_of, scalar, splat, vector


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
    return [
        [
            create(name, list(parts), packed.type, **attributes)
            for parts in zip(*inputs, strict=True)
        ]
    ]


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
        both = zip(*values, strict=True)
        return [[create("llvm.select", [one, *pair], packed.type) for pair in both]]
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
    held = elements(expansion.values(op.operands[0]), before)
    size = max(before.per_register, after.per_register)
    if before.is_sub_byte or after.is_sub_byte:
        each = [create(name, [value], after.element, **attributes) for value in held]
        return [registers_of(each, after)]
    wide = Packing(after.element, size, 1)
    converted: list[Any] = []
    for first in range(0, len(held), size):
        value = create(name, [vector(held[first : first + size])], wide.type, **attributes)
        if after.per_register == size:
            converted.append(value)
        else:
            converted += registers_of(elements([value], wide), after)
    return [converted]


def cut(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.slice`."""
    tile, index = _tile(op.results[0]), int(op.attributes["index"].value)
    whole, part = packing(_tile(op.operands[0])), packing(tile)
    size = whole.per_register
    first, last = index * tile.registers, (index + 1) * tile.registers
    held = expansion.values(op.operands[0])[first // size : -(-last // size)]
    if size == part.per_register:
        return [held]
    skipped = first // size * size
    if whole.is_sub_byte and part.bits % 8 == 0:
        pieces = _pieces(whole, part)
        values = elements([bitcast(register, pieces.type) for register in held], pieces)
        skipped //= part.per_register
        first, last = first // part.per_register, last // part.per_register
        return [[bitcast(value, part.type) for value in values[first - skipped : last - skipped]]]
    return [registers_of(elements(held, whole)[first - skipped : last - skipped], part)]


def concat(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.concat`."""
    whole, part = packing(_tile(op.results[0])), packing(_tile(op.operands[0]))
    joined = [register for v in op.operands for register in expansion.values(v)]
    if whole.per_register == part.per_register:
        return [joined]
    if whole.is_sub_byte and part.bits % 8 == 0:
        pieces = _pieces(whole, part)
        words = registers_of([bitcast(value, pieces.element) for value in joined], pieces)
        return [[bitcast(word, whole.type) for word in words]]
    return [registers_of(elements(joined, part), whole)]


def _pieces(whole: Packing, part: Packing) -> Packing:
    """A register of elements of less than a byte, taken for several of fewer of them."""
    element = ir.IntegerType.get_signless(part.bits)
    return Packing(element, whole.per_register // part.per_register, whole.registers)


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
