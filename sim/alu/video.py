"""What the video instructions compute on parts of registers (PTX ISA, "Video Instructions").

Parts are signed 64-bit numbers here, in which no sum of two of them overflows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from .bits import ORDERED, SIGNED, UNSIGNED, Array, split

Combination = Callable[[Array, Array], Array]
"""What becomes of two parts."""


def parts(registers: Array, type_: str, bits: int) -> Array:
    """The parts of 32-bit registers, along a new last axis, lowest first.

    Args:
        registers: the registers' bits.
        type_: `s32` if the parts are signed, else `u32`.
        bits: 8, 16 or 32.
    """
    lanes = split(registers, (SIGNED if type_ == "s32" else UNSIGNED)[bits])
    return lanes.astype(np.int64)


def bounds(type_: str, bits: int) -> tuple[int, int]:
    """The least and the greatest number of so many bits."""
    return (-1 << bits - 1, (1 << bits - 1) - 1) if type_ == "s32" else (0, (1 << bits) - 1)


def merged(lanes: Array, mask: Sequence[bool], others: Array, bits: int) -> Array:
    """Registers of the lanes under the mask, and of `others` where it is false."""
    low = (1 << bits) - 1
    total = np.zeros((), np.int64)
    for number, taken in enumerate(mask):
        chosen = lanes if taken else others
        total = total | (chosen[..., number] & low) << bits * number
    return wrapped(total)


def wrapped(number: Array) -> Array:
    """The low 32 bits of numbers, as a register holds them."""
    return (number & 0xFFFFFFFF).astype(UNSIGNED[32])


def _average(a: Array, b: Array) -> Array:
    """Half the sum, halves rounded away from zero where it is not negative, else down."""
    total = a + b
    return np.asarray(np.where(total >= 0, total + 1, total) >> 1)


COMBINATIONS: dict[str, Combination] = {
    "add": np.add,
    "sub": np.subtract,
    "absdiff": lambda a, b: np.abs(a - b),
    "min": np.minimum,
    "max": np.maximum,
    "avrg": _average,
}
COMPARISONS: Mapping[str, Combination] = ORDERED


def shift(opcode: str, mode: str) -> Combination:
    """A shift by an unsigned number: `clamp` takes what is above 32 for 32, `wrap` its 5 bits."""
    move = np.left_shift if opcode == "shl" else np.right_shift

    def run(a: Array, count: Array) -> Array:
        return move(a, np.minimum(count, 32) if mode == "clamp" else count & 31)

    return run


def multiply_add(
    a: Array, b: Array, c: Array, *, signs: tuple[bool, bool], rounded_up: bool, right: int
) -> Array:
    """`(±a·b ± c + 1) >> right`, exact, as Python's integers.

    Args:
        a: a factor.
        b: the other.
        c: what is added.
        signs: whether the product and `c` are negated.
        rounded_up: whether one is added (`.po`).
        right: bits that are dropped.
    """
    product = a.astype(object) * b.astype(object)
    negated, taken = signs
    total: Array = (-product if negated else product) + (-c if taken else c).astype(object)
    return np.asarray((total + int(rounded_up)) >> right)
