"""Integer divisions that round up or down, in terms of the one that rounds toward zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir
from tilec.ir.ops import arith
from tilec.ir.types import i1


def _number(value: int, like: Value) -> Value:
    """A constant of the type of `like`."""
    type_ = like.type
    if isinstance(type_, ir.VectorType):
        return arith.splat(type_, ir.IntegerAttr.get(type_.element_type, value))
    return arith.integer(type_, value)


def _test(predicate: arith.CmpI, a: Value, b: Value) -> Value:
    bit: Type = i1()
    if isinstance(a.type, ir.VectorType):
        bit = ir.VectorType.get(a.type.shape, bit)
    return arith.cmpi(predicate, a, b, bit)


def _up_unsigned(a: Value, b: Value) -> Value:
    quotient, rest = arith.divui(a, b), arith.remui(a, b)
    more = arith.addi(quotient, _number(1, a))
    return arith.select(_test(arith.CmpI.NE, rest, _number(0, a)), more, quotient)


def _rounded(a: Value, b: Value, step: int) -> Value:
    """The quotient, `step` further where it is not whole and lies on that side of zero."""
    quotient, rest, zero = arith.divsi(a, b), arith.remsi(a, b), _number(0, a)
    # Signs differ where the exclusive or is negative; all but whole quotients lie below zero then.
    negative = _test(arith.CmpI.SLT, arith.xori(a, b), zero)
    moved = arith.addi(quotient, _number(step, a))
    on_side = (
        arith.select(negative, moved, quotient)
        if step < 0
        else arith.select(negative, quotient, moved)
    )
    return arith.select(_test(arith.CmpI.NE, rest, zero), on_side, quotient)


DIVISIONS: Mapping[str, Callable[[Value, Value], Value]] = MappingProxyType(
    {
        "arith.ceildivsi": lambda a, b: _rounded(a, b, 1),
        "arith.ceildivui": _up_unsigned,
        "arith.floordivsi": lambda a, b: _rounded(a, b, -1),
    }
)
"""What emits each op, on scalars and vectors of integers or of type index."""
