"""The fused dot-product-accumulate step of tensor cores, bit by bit, over whole arrays.

Every term, c among them, is cut toward zero to a fixed point below the largest exponent, the
terms are added exactly, and the sum is rounded once. A product's exponent is the sum of its
factors' exponents, its significand is not renormalised, and subnormals keep the least exponent.

Numbers are held as float64: a product of two factors is exact, and aligned sums stay below 2^53.
Infinities and NaNs follow from float64 arithmetic by themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import ElementType, element_type

from ..native.choice import machine_code
from .arithmetic import ZERO, Rounding, Step

Float64 = NDArray[np.float64]
Exponents = NDArray[np.int16]

_MANTISSAS = {Rounding.RZ32: 23, Rounding.E8M13: 13}
"""Stored bits of sums that are f32."""

_BLOCK = 1 << 14
"""Terms per numpy call: enough to hide the cost of a call, few enough for the cache."""

Accumulators = NDArray[np.float32] | NDArray[np.float16]


@dataclass(frozen=True, slots=True)
class Factors:
    """One side of the products, k first.

    Attributes:
        values: (k, …).
        exponents: of the same shape.
    """

    values: Float64
    exponents: Exponents

    def at(self, index: Any) -> Factors:
        """Those at an index."""
        return Factors(self.values[index], self.exponents[index])

    def spread(self, k: int) -> Factors:
        """Each repeated, to `k` in all."""
        times = k // len(self.values)
        return Factors(self.values.repeat(times, axis=0), self.exponents.repeat(times, axis=0))

    def __mul__(self, other: Factors) -> Factors:
        """Products that are factors of products in their turn."""
        with np.errstate(all="ignore"):
            return Factors(self.values * other.values, self.exponents + other.exponents)


def factors(values: NDArray[Any], type_: ElementType) -> Factors:
    """Values of an element type, with the exponents that tensor cores see."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return Factors(values.astype(np.float64), exponents(values, type_))


def exponents(values: NDArray[np.float32], type_: ElementType) -> Exponents:
    """Exponents of values of an element type; those of subnormals are the least normal one."""
    found = (values.view(np.int32) >> 23).astype(np.int16)
    found &= 0xFF
    found -= 127
    # A scale factor without a mantissa has no subnormals either.
    np.maximum(found, (2 if type_.mantissa else 1) - (1 << (type_.exponent - 1)), out=found)
    np.copyto(found, ZERO, where=values == 0)
    return found


def dot(
    step: Step,
    a: Factors,
    b: Factors,
    c: Accumulators,
    absent: NDArray[np.bool_] | None = None,
) -> Accumulators:
    """Add Σ aₖ·bₖ to c in a chain of steps, k ascending.

    Args:
        step: the step.
        a: (k, …), which broadcasts against b.
        b: (k, …).
        c: of the shape of aₖ·bₖ; its dtype says in which format its subnormals are.
        absent: (k, …), products that do not exist, whatever b is there.

    Returns:
        Accumulators of the shape of c: f16 where the step rounds to f16, else f32.
    """
    if absent is None and step.rounding in _MANTISSAS and machine_code():
        from ..native import products  # noqa: PLC0415 (for machine code only)

        mantissa = _MANTISSAS[step.rounding]
        made = products.dot(
            (a.values, a.exponents), (b.values, b.exponents), c, terms=step.terms,
            fraction=step.fraction, zero=step.zero_exponent, mantissa=mantissa,
        )  # fmt: skip
        if made is not None:
            return made
    for start in range(0, len(a.values), step.terms):
        index = slice(start, start + step.terms)
        c = fused(step, a.at(index), b.at(index), c, None if absent is None else absent[index])
    return c


def fused(
    step: Step,
    a: Factors,
    b: Factors,
    c: Accumulators,
    absent: NDArray[np.bool_] | None = None,
) -> Accumulators:
    """One step; arguments as for `dot`, with k at most `step.terms`."""
    kind = element_type("f16" if c.dtype == np.float16 else "f32")
    c = c.astype(np.float32, copy=False)
    top = exponents(c, kind)
    # A zero term has an exponent of its own, and c is always a term: either c is zero, or its
    # exponent is above a zero's. So that exponent is a lower bound, whichever terms are zero.
    np.maximum(top, np.int16(step.zero_exponent), out=top)
    k = len(a.values)
    count = min(k, max(1, _BLOCK // max(c.size, 1)))
    blocks = [slice(i, min(i + count, k)) for i in range(0, k, count)]
    sums, terms = np.empty((count, *c.shape), np.int16), np.empty((count, *c.shape))
    with np.errstate(all="ignore"):
        for block in blocks:
            sum_ = sums[: block.stop - block.start]
            np.add(a.exponents[block], b.exponents[block], out=sum_)
            np.maximum(top, sum_[0] if count == 1 else sum_.max(axis=0), out=top)
        scale = _power_of_two(step.fraction - top)
        total = np.trunc(c * scale)
        for block in blocks:
            term = terms[: block.stop - block.start]
            np.multiply(a.values[block], b.values[block], out=term)
            if absent is not None:
                np.copyto(term, 0.0, where=absent[block])
            np.multiply(term, scale, out=term)
            np.trunc(term, out=term)
            np.add(total, term[0] if count == 1 else term.sum(axis=0), out=total)
        total /= scale
        return round_sum(total, step.rounding)


def round_sum(total: Float64, rounding: Rounding) -> Accumulators:
    """Exact sums as accumulators: one rounding, no negative zero, one NaN."""
    if rounding is Rounding.RNE16:
        return canonical(total.astype(np.float16))
    return canonical(toward_zero(total, _MANTISSAS[rounding]))


def canonical(values: Accumulators) -> Accumulators:
    """The same in place, with no negative zero and one NaN."""
    if values.dtype == np.float16:
        bits = values.view(np.uint16)
        bits[bits == 0x8000] = 0
        bits[bits & 0x7FFF > 0x7C00] = 0x7FFF
    else:
        values += np.float32(0)  # makes a negative zero positive
        values.view(np.uint32)[np.isnan(values)] = 0x7FFFFFFF
    return values


def toward_zero(values: Float64, mantissa: int) -> NDArray[np.float32]:
    """Cut to `mantissa` stored bits with the exponents of f32; at 2^128 and above infinity."""
    cut = (values.view(np.int64) & -(1 << (52 - mantissa))).view(np.float64)
    small = np.abs(values) < 2.0**-126
    if small.any():
        grain = 2.0 ** -(126 + mantissa)
        np.copyto(cut, np.trunc(values / grain) * grain, where=small)
    return cut.astype(np.float32)


def _power_of_two(exponent: Exponents) -> Float64:
    """2^e exactly, for e of normal float64."""
    return (exponent.astype(np.int64) + 1023 << 52).view(np.float64)
