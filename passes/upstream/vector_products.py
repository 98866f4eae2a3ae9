"""`vector.contract` as a product of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import DotOp, TransposeOp
from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.isa import TilecError

from .contractions import contraction, indexing_maps
from .product_elements import TF32, product_elements
from .vector_types import tile, type_of

_WIDENING = ("arith.extf", "arith.extsi", "arith.extui")


def _contract(op: ir.Operation) -> Value:
    if op.attributes["kind"] != ir.Attribute.parse("#vector.kind<add>"):
        raise TilecError(f"has the kind {op.attributes['kind']}; legal: #vector.kind<add>")
    found = contraction(indexing_maps(op))
    if len(found.maps[2]) != 2:
        raise TilecError(
            "multiplies a batch of matrices; legal: one, and a CTA for each matrix of a batch"
        )
    *inputs, total = op.operands
    a, b = (_narrow(inputs[at]) for at in (found.left, 1 - found.left))
    shape, element = type_of(total).shape, type_of(total).element_type
    elements = product_elements(
        type_of(a).element_type, type_of(b).element_type, element, tf32=TF32 in op.attributes
    )
    units = {
        f"unsigned_{side}": ir.UnitAttr.get()
        for side, value in (("a", inputs[found.left]), ("b", inputs[1 - found.left]))
        if _widening(value) == "arith.extui"
    }
    operands = [
        _operand(value, elements[at], transposed=found.transposed[at])
        for at, value in enumerate((a, b))
    ]
    if element != elements.total:
        total = arith.extf(total, tile(shape, elements.total))
    result = emit(DotOp, [*operands, total], total.type, **units)
    if element == elements.total:
        return result
    return arith.truncf(result, tile(shape, element))


def _widening(value: Value) -> str:
    """The name of the op that widens what becomes `value`, or nothing."""
    owner = value.owner
    return owner.name if not isinstance(owner, ir.Block) and owner.name in _WIDENING else ""


def _narrow(value: Value) -> Value:
    """What was widened to be multiplied: instructions do so themselves."""
    owner = value.owner
    return value if isinstance(owner, ir.Block) or not _widening(value) else owner.operands[0]


def _operand(value: Value, element: Type, *, transposed: bool) -> Value:
    """A tile as an operand of the product."""
    type_ = type_of(value)
    if type_.element_type != element:
        value = arith.truncf(value, tile(type_.shape, element))
    if not transposed:
        return value
    turned = tile([*reversed(type_.shape)], element)
    return emit(TransposeOp, [value], turned, permutation=ir.DenseI64ArrayAttr.get([1, 0]))


PRODUCTS: Mapping[str, Callable[[ir.Operation], Value]] = MappingProxyType(
    {"vector.contract": _contract}
)
"""What emits a product anew, its operands being tiles, and gives the result."""
