"""`vector.contract` as a product of tiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from tilec.dialects.tile.emit import emit
from tilec.dialects.tile.ops import DotOp, TransposeOp
from tilec.ir.mlir import ir
from tilec.isa import TilecError

from ..emit import create
from .contractions import contraction
from .product_elements import TF32, product_elements
from .vector_types import tile

_WIDENING = ("arith.extf", "arith.extsi", "arith.extui")


def _contract(op: Any) -> Any:
    if op.attributes["kind"] != ir.Attribute.parse("#vector.kind<add>"):
        raise TilecError(f"has the kind {op.attributes['kind']}; legal: #vector.kind<add>")
    found = contraction([attribute.value for attribute in op.attributes["indexing_maps"]])
    if len(found.maps[2]) != 2:
        raise TilecError(
            "multiplies a batch of matrices; legal: one, and a CTA for each matrix of a batch"
        )
    *inputs, total = op.operands
    a, b = (_narrow(inputs[at]) for at in (found.left, 1 - found.left))
    element = total.type.element_type
    elements = product_elements(
        a.type.element_type, b.type.element_type, element, tf32=TF32 in op.attributes
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
        total = create("arith.extf", [total], tile(total.type.shape, elements.total))
    result = emit(DotOp, [*operands, total], total.type, **units)
    if element == elements.total:
        return result
    return create("arith.truncf", [result], tile(total.type.shape, element))


def _widening(value: Any) -> str:
    """The name of the op that widens what becomes `value`, or nothing."""
    owner = value.owner
    return owner.name if not isinstance(owner, ir.Block) and owner.name in _WIDENING else ""


def _narrow(value: Any) -> Any:
    """What was widened to be multiplied: instructions do so themselves."""
    return value.owner.operands[0] if _widening(value) else value


def _operand(value: Any, element: Any, *, transposed: bool) -> Any:
    """A tile as an operand of the product."""
    if value.type.element_type != element:
        value = create("arith.truncf", [value], tile(value.type.shape, element))
    if not transposed:
        return value
    shape = tile([*reversed(value.type.shape)], element)
    return emit(TransposeOp, [value], shape, permutation=ir.DenseI64ArrayAttr.get([1, 0]))


PRODUCTS: Mapping[str, Callable[[Any], Any]] = MappingProxyType({"vector.contract": _contract})
"""What emits a product anew, its operands being tiles, and gives the result."""
