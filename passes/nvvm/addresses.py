"""Pointers and steps from them."""

from __future__ import annotations

from typing import NamedTuple

from tilec.dialects.semantics.effects import address_space
from tilec.ir.aliases import Type, Value
from tilec.ir.ops import llvm
from tilec.ir.types import i8, integer

from ..emit import wrapped

_GLOBAL = 1
"""The number of global memory's address space."""
_NEAR = 1 << 28
"""Constant indices and the immediates of instructions are less than this."""


class Address(NamedTuple):
    """A pointer and a constant, which instructions take as an immediate.

    Attributes:
        pointer: the pointer.
        bytes: how far after it the address is.
    """

    pointer: Value
    bytes: int

    def value(self) -> Value:
        """The address as one pointer."""
        return step(self.pointer, self.bytes)


def address(pointer: Value, count: int) -> Address:
    """The address `count` bytes after a pointer."""
    count = wrapped(count)
    near = -_NEAR < count < _NEAR
    return Address(pointer, count) if near else Address(step(pointer, count), 0)


def step(pointer: Value, count: int) -> Value:
    """The pointer `count` bytes further."""
    if count == 0:
        return pointer
    if not -_NEAR < count < _NEAR:
        return advance(pointer, llvm.constant_i64(count))
    return llvm.getelementptr(pointer, count, i8())


def advance(pointer: Value, offset: Value, bits: int = 8) -> Value:
    """The pointer further by a value, i64, in units of so many bits."""
    return llvm.getelementptr(pointer, offset, integer(bits))


def in_global(pointer: Value) -> Value:
    """The pointer in the global state space, where what it points to is known to lie."""
    return _cast(pointer, _GLOBAL)


def in_space(pointer: Value, memref: Type) -> Value:
    """The pointer in the state space of a memref of a type: global where that names none."""
    return _cast(pointer, address_space(memref) or _GLOBAL)


def _cast(pointer: Value, space: int) -> Value:
    type_ = llvm.pointer(space)
    return pointer if pointer.type == type_ else llvm.addrspacecast(pointer, type_)
