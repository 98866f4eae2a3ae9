"""The shapes that most ops have: operands of one type, which the result has, too; casts.

They are what a compilation makes most of, so they do without the calls of `tilec.ir.creation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..aliases import Type, Value
from ..interning import EFFECT_FREE, active
from ..mlir import ir

Unary: TypeAlias = Callable[[Value], ir.OpResult]
Binary: TypeAlias = Callable[[Value, Value], ir.OpResult]
Ternary: TypeAlias = Callable[[Value, Value, Value], ir.OpResult]
Cast: TypeAlias = Callable[[Value, Type], ir.OpResult]

_create = ir.Operation.create
_interner = active.get


def unary(name: str) -> Unary:
    """What makes the op `name` of one operand, whose type the result has."""
    give = cast(name)

    def make(value: Value) -> ir.OpResult:
        return give(value, value.type)

    return make


def binary(name: str) -> Binary:
    """What makes the op `name` of two operands, whose type the result has."""
    is_free = name in EFFECT_FREE

    def make(a: Value, b: Value) -> ir.OpResult:
        interner = _interner()
        if is_free and interner is not None:
            return interner.create(name, (a, b), a.type, {})
        return _create(name, (a.type,), (a, b)).result

    return make


def ternary(name: str) -> Ternary:
    """What makes the op `name` of three operands, whose type the result has."""
    is_free = name in EFFECT_FREE

    def make(a: Value, b: Value, c: Value) -> ir.OpResult:
        interner = _interner()
        if is_free and interner is not None:
            return interner.create(name, (a, b, c), a.type, {})
        return _create(name, (a.type,), (a, b, c)).result

    return make


def cast(name: str) -> Cast:
    """What makes the op `name` of one operand, given the type of the result."""
    is_free = name in EFFECT_FREE

    def make(value: Value, result: Type) -> ir.OpResult:
        interner = _interner()
        if is_free and interner is not None:
            return interner.create(name, (value,), result, {})
        return _create(name, (result,), (value,)).result

    return make
