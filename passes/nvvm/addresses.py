"""Pointers and steps from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tilec.ir.mlir import ir

from ..emit import create, wrapped
from .registers import constant_i64

_DYNAMIC = -(1 << 31)
"""What stands for a value among the constant indices of a `llvm.getelementptr`."""
_NEAR = 1 << 28
"""Constant indices and the immediates of instructions are less than this."""


@dataclass(frozen=True, slots=True)
class Address:
    """A pointer and a constant, which instructions take as an immediate.

    Attributes:
        pointer: the pointer.
        bytes: how far behind it the address is.
    """

    pointer: Any
    bytes: int

    def value(self) -> Any:
        """The address as one pointer."""
        return step(self.pointer, self.bytes)


def address(pointer: Any, count: int) -> Address:
    """The address `count` bytes behind a pointer."""
    count = wrapped(count)
    near = -_NEAR < count < _NEAR
    return Address(pointer, count) if near else Address(step(pointer, count), 0)


def step(pointer: Any, count: int) -> Any:
    """The pointer `count` bytes further."""
    if count == 0:
        return pointer
    if not -_NEAR < count < _NEAR:
        return moved(pointer, constant_i64(count))
    return _gep([pointer], count, 8)


def moved(pointer: Any, offset: Any, bits: int = 8) -> Any:
    """The pointer further by a value, i64, in units of so many bits."""
    return _gep([pointer, offset], _DYNAMIC, bits)


def in_global(pointer: Any) -> Any:
    """The pointer in the global state space, where what it points to is known to lie."""
    type_ = ir.Type.parse("!llvm.ptr<1>")
    return pointer if pointer.type == type_ else create("llvm.addrspacecast", [pointer], type_)


def _gep(operands: list[Any], constant: int, bits: int) -> Any:
    return create(
        "llvm.getelementptr",
        operands,
        operands[0].type,
        elem_type=ir.TypeAttr.get(ir.IntegerType.get_signless(bits)),
        rawConstantIndices=ir.DenseI32ArrayAttr.get([constant]),
    )
