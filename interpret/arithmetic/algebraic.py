"""Floats embedded in the integers modulo 2^w, as `tilec.isa.algebra` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType
from typing import Any

import numpy as np
from tilec.interpret.numbers import Array, Number, wrap
from tilec.isa import algebra

from .base import Arithmetic, Matrices, ProductOf

_SMALL = 8
"""Half of the random numbers are that small, so that comparisons and bounds matter."""
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "arith.addf": "add",
        "arith.subf": "sub",
        "arith.mulf": "mul",
        "arith.negf": "neg",
        "arith.divf": "div",
        "arith.maximumf": "max",
        "arith.minimumf": "min",
        "arith.maxnumf": "max",
        "arith.minnumf": "min",
        "math.absf": "abs",
    }
)
"""What the algebra calls ops, where it is not their name without the dialect."""


class Algebraic(Arithmetic):
    """The integers modulo 2^w."""

    name = "algebraic"

    def dtype(self, number: Number) -> np.dtype[Any]:
        """Always int64."""
        return np.dtype(np.int64)

    def constant(self, values: Array, number: Number) -> Array:
        """The integers themselves, and numbers that stand for others."""
        return algebra.embed(values, number.bits)

    def decode(self, codes: Array, number: Number) -> Array:
        """The bits as a signed number."""
        return wrap(codes >> number.shift, number.bits - number.shift)

    def encode(self, values: Array, number: Number) -> Array:
        """The signed number's bits."""
        shifted = values << number.shift
        return shifted if number.bits >= 64 else shifted & ((1 << number.bits) - 1)

    def apply(self, fn: str, values: Sequence[Array], number: Number) -> Array:
        """The ring's operation, or a fixed function."""
        name = _NAMES.get(fn) or fn.partition(".")[2]
        return algebra.apply(name, values, number.bits)

    def convert(self, values: Array, source: Number, result: Number) -> Array:
        """The same signed number, modulo the power of a narrower type."""
        return wrap(values, result.bits - result.shift)

    def from_integer(self, values: Array, result: Number) -> Array:
        """The same number."""
        return algebra.from_integer(values, result.bits)

    def to_integer(self, values: Array, result: Number, *, signed: bool) -> Array:
        """The nearest that there is."""
        return algebra.to_integer(values, result.bits, signed=signed)

    def multiply(self, given: Matrices, of: ProductOf) -> Array:
        """Exact, modulo the power of the result's type."""
        a, b, c, _, scales = given
        if scales is not None:
            of_a, of_b = scales.spread(a.shape[-1])
            with np.errstate(over="ignore"):
                a, b = a * of_a, b * of_b
        return algebra.multiply(a, b, c, of.d.bits)

    def draw(self, random: np.random.Generator, shape: tuple[int, ...], number: Number) -> Array:
        """Small numbers and any others, evenly."""
        words = np.frombuffer(random.bytes(8 * prod(shape)), np.int64).reshape(shape)
        # Some bits say whether a number is small, and which one it is; the others are the number.
        small = (words >> 1) % (2 * _SMALL + 1) - _SMALL
        return wrap(np.where(words & 1, small, words >> 8), number.bits - number.shift)
