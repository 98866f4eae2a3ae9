"""`tile.fill`, `tile.elementwise`, `tile.slice`, `tile.concat`, and casts that LLVM has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tilec.dialects.tile.ops.elementwise import COMPARISONS, check_kind
from tilec.ir.mlir import ir

from ..emit import create
from ..fragments.expansion import Expansion, Values
from .rearrangement import rearranged, repacked
from .registers import Packing, elements, fragment, packing_of, registers_of, scalar, splat


def fill(op: Any, _: Expansion) -> list[Values]:
    """`tile.fill`."""
    packed = packing_of(op.results[0])
    return [[splat(scalar(op.operands[0], packed), packed)] * packed.registers]


def elementwise(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.elementwise`: the upstream op on each register, as a vector where it holds several."""
    packed = packing_of(op.results[0])
    operands = list(op.operands)
    inputs = [expansion.values(v) for v in operands]
    name, attributes = function(op)
    check_kind(name, fragment(operands[0]).element)  # upstream's op on a tensor may allow more
    if name in COMPARISONS:
        return [_apply(name, attributes, inputs, packing_of(operands[0]), packed)]
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
    packed = packing_of(op.results[0])
    condition = op.operands[0]
    conditions, *values = (expansion.values(v) for v in op.operands)
    if isinstance(condition.type, ir.IntegerType):
        (one,) = conditions
        type_, both = packed.type, zip(*values, strict=True)
        return [[create("llvm.select", [one, *pair], type_) for pair in both]]
    masks = elements(conditions, packing_of(condition))
    held = [elements(registers, packed) for registers in values]
    chosen = [
        create("llvm.select", list(three), packed.element)
        for three in zip(masks, *held, strict=True)
    ]
    return [registers_of(chosen, packed)]


def cast(
    name: str, attributes: Mapping[str, Any], held: Values, before: Packing, after: Packing
) -> Values:
    """An upstream cast of as many elements at once as a register of the packed side holds.

    Args:
        name: of the upstream op.
        attributes: its attributes.
        held: the registers.
        before: how elements lie in them.
        after: how they are to lie in the result's.
    """
    if before.is_sub_byte or after.is_sub_byte:
        return _apply(name, attributes, [held], before, after)
    size = max(before.per_register, after.per_register)
    given, wide = before.by(size), after.by(size)
    type_ = wide.type
    converted = [
        create(name, [value], type_, **attributes) for value in repacked(held, before, given)
    ]
    return repacked(converted, wide, after)


def cut(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.slice`."""
    source, index = op.operands[0], int(op.attributes["index"].value)
    whole, part = packing_of(source), packing_of(op.results[0])
    held = expansion.values(source)
    if whole.per_register == part.per_register:
        first = index * part.registers
        return [held[first : first + part.registers]]
    first = index * part.elements
    return [rearranged(held, whole, range(first, first + part.elements), part)]


def concat(op: Any, expansion: Expansion) -> list[Values]:
    """`tile.concat`."""
    whole, part = packing_of(op.results[0]), packing_of(op.operands[0])
    return [repacked(expansion.all(op.operands), part, whole)]


def function(op: Any) -> tuple[str, dict[str, Any]]:
    """The upstream op to apply, and the attributes to give it."""
    attributes = op.attributes
    found = {
        name: attributes[name]
        for name in ("fastmath", "overflowFlags", "predicate", "roundingmode")
        if name in attributes
    }
    return ir.StringAttr(attributes["fn"]).value, found
