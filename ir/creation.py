"""How ops are made: fast, without the bindings' classes of upstream's ops.

The functions of `tilec.ir.ops` stand on these. What they make goes to the current insertion
point and location.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .aliases import Attribute, Type, Value
from .interning import EFFECT_FREE, active
from .mlir import ir

_create = ir.Operation.create
_interner = active.get


def create(
    name: str, operands: Sequence[Value], result: Type, **attributes: Attribute
) -> ir.OpResult:
    """The result of an op that has one: a new one, unless an interner is at work.

    Args:
        name: the op's full name.
        operands: its operands.
        result: type of its result.
        attributes: its attributes.
    """
    interner = _interner()
    if interner is not None and name in EFFECT_FREE:
        return interner.create(name, operands, result, attributes)
    return _create(name, [result], operands, attributes).result


def once(make: Callable[[int], ir.OpResult], value: int) -> ir.OpResult:
    """An integer constant; an interner at work finds it by its number, without the whole op.

    Args:
        make: a function of a module that makes the constant, by `create`.
        value: the number.
    """
    interner = _interner()
    if interner is None:
        return make(value)
    key = make, value
    found = interner.constants.get(key)
    if found is None:
        found = interner.constants[key] = make(value)
    return found


def emit(name: str, operands: Sequence[Value] = (), **attributes: Attribute) -> ir.Operation:
    """A new op without results."""
    return _create(name, None, operands, attributes)
