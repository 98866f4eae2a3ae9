"""Operands of every kind, and roundings in rational arithmetic, for the tests of instructions."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tilec.sim.alu import resolve


@pytest.fixture(scope="session")
def run():
    """Executes an instruction, spelled as in PTX, on arrays of bits."""

    def call(text, *operands, results=None):
        opcode, *modifiers = text.split(".")
        return resolve(opcode, tuple(modifiers), results)(*operands)

    return call


@pytest.fixture(scope="session")
def nearby() -> Callable:
    """Float bit patterns: uniform ones, edges with their neighbours, and everyday numbers."""

    def sample(width, count, seed):
        rng = np.random.default_rng(seed)
        unsigned, number = np.dtype(f"u{width // 8}"), np.dtype(f"f{width // 8}")
        mantissa = np.finfo(number).nmant
        top = (1 << (width - 1)) - 1
        infinity = top - (1 << mantissa) + 1
        edges = [0, 1, 1 << mantissa, infinity, top, 1 << (mantissa - 1)]
        one = int(number.type(1).view(unsigned))
        edges += [one, one - (1 << mantissa), one + (1 << mantissa), infinity - 1]
        near = [max(e + d, 0) & top for e in edges for d in (-2, -1, 0, 1, 2)]
        near += [n | (top + 1) for n in near]
        uniform = rng.integers(0, 2**width, count, dtype=unsigned, endpoint=False)
        common = rng.normal(size=count) * 2.0 ** rng.integers(-5, 6, count)
        whole = rng.integers(-300, 300, count).astype(number)
        pools = [uniform, common.astype(number).view(unsigned), whole.view(unsigned)]
        pools.append(rng.choice(np.array(near, dtype=unsigned), count))
        return np.choose(rng.integers(0, 4, count), pools)

    return sample


def _whole(value: Fraction, rounding: str) -> int:
    floor = value.numerator // value.denominator
    rest = value - floor
    if rounding == "rm" or rest == 0:
        return floor
    if rounding == "rp":
        return floor + 1
    if rounding == "rz":
        return floor if value > 0 else floor + 1
    if rounding == "rna":
        up = rest > Fraction(1, 2) or (rest == Fraction(1, 2) and value > 0)
        return floor + up
    return floor + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and floor % 2 == 1))


@pytest.fixture(scope="session")
def rounded() -> Callable:
    """The bits of a nonzero rational in an IEEE format, by definition of the roundings."""

    def encode(value, exponent_bits, mantissa_bits, rounding="rn"):
        lowest = 2 - 2 ** (exponent_bits - 1)
        size = abs(value)
        exponent = size.numerator.bit_length() - size.denominator.bit_length()
        if Fraction(2) ** exponent > size:
            exponent -= 1
        quantum = Fraction(2) ** (max(exponent, lowest) - mantissa_bits)
        magnitude = abs(_whole(value / quantum, rounding)) * quantum
        sign = (value < 0) << (exponent_bits + mantissa_bits)
        infinity = ((1 << exponent_bits) - 1) << mantissa_bits
        if magnitude >= Fraction(2) ** (2 ** (exponent_bits - 1)):
            inward = rounding in ("rz", "rp" if value < 0 else "rm")
            return sign | (infinity - inward)
        if magnitude < Fraction(2) ** lowest:
            return sign | int(magnitude / Fraction(2) ** (lowest - mantissa_bits))
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        if Fraction(2) ** exponent > magnitude:
            exponent -= 1
        fraction = magnitude / Fraction(2) ** exponent - 1
        return sign | ((exponent - lowest + 1) << mantissa_bits) + int(fraction * 2**mantissa_bits)

    return encode
