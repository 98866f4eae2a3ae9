"""Attributes of an op by name and class."""

from __future__ import annotations

from math import copysign
from typing import TypeVar

from tilec.isa.errors import TilecError

from .aliases import Op
from .mlir import ir

CLUSTER = "nvvm.cluster_dim"
"""Of a kernel: CTAs of a cluster. Upstream's `known_cluster_size` of `gpu.func` becomes it."""

A = TypeVar("A", bound=ir.Attribute)


def attribute(op: Op, name: str, kind: type[A]) -> A:
    """An attribute that the op is known to have.

    Args:
        op: the op.
        name: the attribute's name.
        kind: its class, such as `ir.IntegerAttr`.

    Raises:
        KeyError: if the op has none of this name.
        TypeError: if it is of another class.
    """
    found = op.attributes[name]
    if not isinstance(found, kind):
        raise TypeError(f"{name} of {op.name} is {found}, not {kind.__name__}")
    return found


def given_attribute(op: Op, name: str, kind: type[A]) -> A | None:
    """An attribute that a user may have given the op; None if the op has none of this name.

    Args:
        op: the op.
        name: the attribute's name.
        kind: the class that it must be of.

    Raises:
        TilecError: if it is of another.
    """
    if name not in op.attributes:
        return None
    found = op.attributes[name]
    if not isinstance(found, kind):
        raise TilecError(f"{name} is {found}, which is not a {kind.__name__}")
    return found


def signature(function: Op) -> ir.FunctionType:
    """The type of a `gpu.func` or `func.func`."""
    type_ = attribute(function, "function_type", ir.TypeAttr).value
    assert isinstance(type_, ir.FunctionType)
    return type_


def is_positive_zero(value: ir.Attribute) -> bool:
    """Whether an attribute is the number zero; one of floats that has no sign."""
    if isinstance(value, ir.FloatAttr):
        return value.value == 0 and copysign(1, value.value) > 0
    return isinstance(value, ir.IntegerAttr) and value.value == 0


def i32_attribute(value: int) -> ir.IntegerAttr:
    """An attribute of type i32."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)


def i64_attribute(value: int) -> ir.IntegerAttr:
    """An attribute of type i64."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


def cluster_size(function: Op) -> tuple[int, int, int] | None:
    """CTAs of a cluster, by the attribute of `gpu` or of `nvvm`, or None."""
    for name in ("known_cluster_size", CLUSTER):
        if name in function.attributes:
            x, y, z = (*attribute(function, name, ir.DenseI32ArrayAttr), 1, 1)[:3]
            return x, y, z
    return None
