"""What an arithmetic of floats must know."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from tilec.interpret.numbers import Array, Number
from tilec.isa import Product


@dataclass(frozen=True, slots=True)
class ProductOf:
    """What is known of a product of matrices of floats.

    Attributes:
        a, b, c, d: element types.
        form: the instruction, where it is chosen.
        target: whose tensor cores, where it is known.
    """

    a: Number
    b: Number
    c: Number
    d: Number
    form: Product | None = None
    target: str = ""


@dataclass(frozen=True, slots=True)
class Scales:
    """Factors of blocks along K.

    Attributes:
        a: (…, m, blocks).
        b: (…, blocks, n).
        of_a, of_b: element types.
    """

    a: Array
    b: Array
    of_a: Number
    of_b: Number

    def spread(self, depth: int) -> tuple[Array, Array]:
        """One for each element along K."""
        return (
            self.a.repeat(depth // self.a.shape[-1], axis=-1),
            self.b.repeat(depth // self.b.shape[-2], axis=-2),
        )


class Matrices(NamedTuple):
    """What is multiplied and added.

    Attributes:
        a: (…, m, k).
        b: (…, k, n).
        c: (…, m, n).
        present: which elements of A are stored, of a sparse one; others are zeros that do not meet
            what B has there.
        scales: what A and B are multiplied by.
    """

    a: Array
    b: Array
    c: Array
    present: Array | None = None
    scales: Scales | None = None


class Arithmetic(ABC):
    """Floats as the interpreter holds and computes them.

    Values are arrays of `dtype`, which is also how memory of such elements holds them.
    """

    name: ClassVar[str]

    @abstractmethod
    def dtype(self, number: Number) -> np.dtype[Any]:
        """The numpy type of values."""

    @abstractmethod
    def constant(self, values: Array, number: Number) -> Array:
        """Values from real numbers in float64."""

    @abstractmethod
    def decode(self, codes: Array, number: Number) -> Array:
        """Values from their bits, integers without a sign."""

    @abstractmethod
    def encode(self, values: Array, number: Number) -> Array:
        """The bits of values, int64 without a sign."""

    @abstractmethod
    def apply(self, fn: str, values: Sequence[Array], number: Number) -> Array:
        """What the upstream op `fn` on elements of one type gives.

        Raises:
            KeyError: if the arithmetic does not know the op.
        """

    @abstractmethod
    def convert(self, values: Array, source: Number, result: Number) -> Array:
        """Values of one float type as another."""

    @abstractmethod
    def from_integer(self, values: Array, result: Number) -> Array:
        """Floats from integers in int64 or uint64."""

    @abstractmethod
    def to_integer(self, values: Array, result: Number, *, signed: bool) -> Array:
        """The nearest integers toward zero that the type has, 0 for NaN; int64."""

    @abstractmethod
    def multiply(self, given: Matrices, of: ProductOf) -> Array:
        """`a · b + c`."""

    @abstractmethod
    def draw(self, random: np.random.Generator, shape: tuple[int, ...], number: Number) -> Array:
        """Random values for memory."""

    def reduce(self, fn: str, values: Array, axis: int, number: Number) -> Array:
        """Elements along an axis combined, halves first, as lanes do."""
        values = np.moveaxis(values, axis, 0)
        while len(values) > 1:
            half, last = len(values) // 2, values[len(values) // 2 * 2 :]
            both = self.apply(fn, (values[:half], values[half : 2 * half]), number)
            values = np.concatenate([both, last])
        return np.asarray(values[0])

    def compare(self, predicate: int, a: Array, b: Array) -> Array:
        """`arith.cmpf` by the number of its predicate."""
        nan = np.isnan(a) | np.isnan(b) if a.dtype.kind not in "iu" else np.zeros(a.shape, bool)
        ordered = (a == b, a > b, a >= b, a < b, a <= b, a != b, True)
        found: Array
        if predicate in (0, 15):
            found = np.broadcast_to(np.asarray(predicate == 15), a.shape)
        elif predicate <= 7:
            found = np.asarray(ordered[predicate - 1]) & ~nan
        else:
            extended = (*ordered[:6], False)
            found = np.asarray(extended[predicate - 8]) | nan
        return found

    def differ(self, one: Array, other: Array) -> Array:
        """Which values are not the same."""
        del self
        return np.asarray(one.view(_bits(one)) != other.view(_bits(other)))


def _bits(values: Array) -> str:
    """The unsigned integers of an array's width."""
    return f"u{values.dtype.itemsize}"
