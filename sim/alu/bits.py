"""Bit patterns as numpy arrays: the dtypes of PTX types, and lanes of packed registers.

Registers hold raw bits in the unsigned dtype of their width, predicates bool. Packed
types put element 0 in the low bits, so their lanes are a view on a little-endian host.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from tilec.isa import types
from tilec.isa.errors import TilecError

Array: TypeAlias = npt.NDArray[Any]
"""Raw bits, or what a view of them holds."""

Operation: TypeAlias = Callable[..., Any]
"""The semantics of one instruction: source operands in, destination (or a tuple of them) out."""

PREDICATE = np.dtype(np.bool_)
UNSIGNED = {w: np.dtype(f"u{w // 8}") for w in (8, 16, 32, 64)}
SIGNED = {w: np.dtype(f"i{w // 8}") for w in (8, 16, 32, 64)}
FLOAT = {w: np.dtype(f"f{w // 8}") for w in (16, 32, 64)}

ORDERED: Mapping[str, np.ufunc] = MappingProxyType(
    {
        "eq": np.equal,
        "ne": np.not_equal,
        "lt": np.less,
        "le": np.less_equal,
        "gt": np.greater,
        "ge": np.greater_equal,
    }
)
"""Comparisons of numbers, by PTX's name."""
BOOLEAN: Mapping[str, np.ufunc] = MappingProxyType(
    {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
)
"""What `setp` and `set` combine their result with a predicate by."""

if sys.byteorder != "little":
    raise TilecError("tilec.sim needs a little-endian host")


@cache
def is_type(modifier: str) -> bool:
    """Whether a modifier is a type (`u32`, `bf16x2`, `e4m3x2`…), as opposed to a qualifier."""
    return modifier == "carry" or types.is_type(modifier)


@cache
def width(type_: str) -> int:
    """Bits of the register that an operand of a PTX type takes; 1 for predicates and carries."""
    return 1 if type_ == "carry" else types.register_bits(type_)


def register_dtype(type_: str) -> np.dtype[Any]:
    """The dtype in which an operand of a PTX type is handed over."""
    bits = width(type_)
    return PREDICATE if bits == 1 else UNSIGNED[max(bits, 8)]


def number_dtype(type_: str) -> np.dtype[Any]:
    """The numpy dtype that reads an element of type u, s, b or f as a number."""
    kind = {"s": SIGNED, "f": FLOAT}.get(type_[0], UNSIGNED)
    return kind[width(type_)]


def split(bits: Array, lane: np.dtype[Any]) -> Array:
    """The lanes of packed registers, along a new last axis, lowest first."""
    return np.ascontiguousarray(bits).reshape(np.shape(bits))[..., None].view(lane)


def join(lanes: Array, register: np.dtype[Any]) -> Array:
    """The registers whose lanes lie along the last axis, lowest first."""
    return np.ascontiguousarray(lanes).view(register)[..., 0]


def packed(operation: Operation, lane: np.dtype[Any], register: np.dtype[Any]) -> Operation:
    """`operation` on each lane of packed registers."""

    def run(*operands: Array) -> Array:
        return join(operation(*(split(x, lane) for x in operands)), register)

    return run
