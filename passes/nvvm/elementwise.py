"""`tile.fill`, `tile.elementwise`, `tile.slice`, `tile.concat`, and casts that LLVM has."""

from __future__ import annotations

from collections.abc import Mapping

from tilec.dialects.tile.ops import (
    CastOp,
    ConcatOp,
    ElementwiseOp,
    FillOp,
    SelectOp,
    SliceOp,
    WmmaElementwiseOp,
)
from tilec.dialects.tile.ops.elementwise import COMPARISONS, check_kind
from tilec.ir.aliases import Attribute, Value
from tilec.ir.creation import create
from tilec.ir.mlir import ir
from tilec.ir.ops import llvm

from ..fragments.expansion import Expansion, Values
from .rearrangement import rearranged, repacked
from .registers import Packing, elements, fragment, packing_of, registers_of, scalar, splat


def fill(op: FillOp, _: Expansion) -> list[Values]:
    """`tile.fill`."""
    packed = packing_of(op.tile)
    return [[splat(scalar(op.value, packed), packed)] * packed.registers]


def elementwise(op: ElementwiseOp, expansion: Expansion) -> list[Values]:
    """`tile.elementwise`: the upstream op on each register, as a vector where it holds several."""
    packed = packing_of(op.result)
    operands = op.inputs
    inputs = [expansion.values(v) for v in operands]
    name, attributes = function(op)
    check_kind(name, fragment(operands[0]).element)  # upstream's op on a tensor may allow more
    if name in COMPARISONS:
        return [_apply(name, attributes, inputs, packing_of(operands[0]), packed)]
    if packed.is_sub_byte:
        return [_apply(name, attributes, inputs, packed, packed)]
    type_ = packed.type
    parts = zip(*inputs, strict=True)
    return [[create(name, each, type_, **attributes) for each in parts]]


def _apply(
    name: str,
    attributes: Mapping[str, Attribute],
    inputs: list[Values],
    before: Packing,
    after: Packing,
) -> list[Value]:
    """An op on each element, where LLVM would take a vector of the result apart in memory."""
    held = [elements(registers, before) for registers in inputs]
    values: list[Value] = [
        create(name, operands, after.element, **attributes) for operands in zip(*held, strict=True)
    ]
    return registers_of(values, after)


def select(op: SelectOp, expansion: Expansion) -> list[Values]:
    """`tile.select`: register by register, or element by element where each has a condition."""
    packed = packing_of(op.result)
    conditions = expansion.values(op.condition)
    values = [expansion.values(v) for v in (op.on_true, op.on_false)]
    if isinstance(op.condition.type, ir.IntegerType):
        (one,) = conditions
        return [[llvm.select(one, a, b) for a, b in zip(*values, strict=True)]]
    masks = elements(conditions, packing_of(op.condition))
    held = [elements(registers, packed) for registers in values]
    chosen: list[Value] = [llvm.select(*three) for three in zip(masks, *held, strict=True)]
    return [registers_of(chosen, packed)]


def cast(
    name: str, attributes: Mapping[str, Attribute], held: Values, before: Packing, after: Packing
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
    converted: list[Value] = [
        create(name, [value], type_, **attributes) for value in repacked(held, before, given)
    ]
    return repacked(converted, wide, after)


def cut(op: SliceOp, expansion: Expansion) -> list[Values]:
    """`tile.slice`."""
    index = op.index.value
    whole, part = packing_of(op.whole), packing_of(op.part)
    held = expansion.values(op.whole)
    if whole.per_register == part.per_register:
        first = index * part.registers
        return [held[first : first + part.registers]]
    first = index * part.elements
    return [rearranged(held, whole, range(first, first + part.elements), part)]


def concat(op: ConcatOp, expansion: Expansion) -> list[Values]:
    """`tile.concat`."""
    whole, part = packing_of(op.whole), packing_of(op.parts[0])
    return [repacked(expansion.all(op.parts), part, whole)]


def function(
    op: ElementwiseOp | CastOp | WmmaElementwiseOp,
) -> tuple[str, dict[str, Attribute]]:
    """The upstream op to apply, and the attributes to give it."""
    attributes = op.attributes
    found = {
        name: attributes[name]
        for name in ("fastmath", "overflowFlags", "predicate", "roundingmode")
        if name in attributes
    }
    return op.fn.value, found
