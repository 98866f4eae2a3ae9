"""`vector`: elements of short vectors."""

from __future__ import annotations

from collections.abc import Sequence

from ..aliases import Type, Value
from ..creation import create
from ..mlir import ir


def from_elements(values: Sequence[Value]) -> ir.OpResult:
    """A vector of these scalars."""
    type_ = ir.VectorType.get([len(values)], values[0].type)
    return create("vector.from_elements", values, type_)


def to_elements(vector: Value, types: Sequence[Type]) -> ir.OpResultList:
    """The elements of a vector, one result each of the types."""
    return ir.Operation.create("vector.to_elements", types, [vector]).results


def extract(vector: Value, position: int, result: Type) -> ir.OpResult:
    """An element of a vector, of type `result`."""
    at = ir.DenseI64ArrayAttr.get([position])
    return create("vector.extract", [vector], result, static_position=at)


def shuffle(a: Value, b: Value, mask: Sequence[int]) -> ir.OpResult:
    """A vector of elements of two, those of `b` counted behind those of `a`."""
    assert isinstance(a.type, ir.VectorType)
    type_ = ir.VectorType.get([len(mask)], a.type.element_type)
    return create("vector.shuffle", [a, b], type_, mask=ir.DenseI64ArrayAttr.get(mask))
