"""Integer divisions that round up or down, in terms of the one that rounds toward zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from tilec.ir.aliases import Type, Value
from tilec.ir.mlir import ir

from ..emit import create

_NE, _SLT = 1, 2
"""Predicates of `arith.cmpi`."""


def _op(name: str, a: Value, b: Value) -> Value:
    return create(f"arith.{name}", [a, b], a.type)


def _number(value: int, like: Value) -> Value:
    """A constant of the type of `like`."""
    type_ = like.type
    if isinstance(type_, ir.VectorType):
        one = ir.IntegerAttr.get(type_.element_type, value)
        return create("arith.constant", [], type_, value=ir.DenseElementsAttr.get_splat(type_, one))
    return create("arith.constant", [], type_, value=ir.IntegerAttr.get(type_, value))


def _test(predicate: int, a: Value, b: Value) -> Value:
    bit: Type = ir.IntegerType.get_signless(1)
    if isinstance(a.type, ir.VectorType):
        bit = ir.VectorType.get(list(a.type.shape), bit)
    kind = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
    return create("arith.cmpi", [a, b], bit, predicate=kind)


def _pick(condition: Value, a: Value, b: Value) -> Value:
    return create("arith.select", [condition, a, b], a.type)


def _up_unsigned(a: Value, b: Value) -> Value:
    quotient, rest = _op("divui", a, b), _op("remui", a, b)
    more = _op("addi", quotient, _number(1, a))
    return _pick(_test(_NE, rest, _number(0, a)), more, quotient)


def _rounded(a: Value, b: Value, step: int) -> Value:
    """The quotient, `step` further where it is not whole and lies on that side of zero."""
    quotient, rest, zero = _op("divsi", a, b), _op("remsi", a, b), _number(0, a)
    # Signs differ where the exclusive or is negative; all but whole quotients lie below zero then.
    negative = _test(_SLT, _op("xori", a, b), zero)
    moved = _op("addi", quotient, _number(step, a))
    on_side = _pick(negative, moved, quotient) if step < 0 else _pick(negative, quotient, moved)
    return _pick(_test(_NE, rest, zero), on_side, quotient)


DIVISIONS: Mapping[str, Callable[[Value, Value], Value]] = MappingProxyType(
    {
        "arith.ceildivsi": lambda a, b: _rounded(a, b, 1),
        "arith.ceildivui": _up_unsigned,
        "arith.floordivsi": lambda a, b: _rounded(a, b, -1),
    }
)
"""What emits each op, on scalars and vectors of integers or of type index."""
