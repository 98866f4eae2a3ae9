"""The numbers of the element types, and the sums of the tensor cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from tilec.interpret.numbers import Array, Number, float_dtype

from .base import Arithmetic, Matrices, ProductOf
from .functions import FUNCTIONS
from .instructions import multiply_by
from .shadow import (
    decode_floats,
    draw_floats,
    encode_floats,
    multiply_wide,
    narrowed,
    nearest_integer,
)


class Hardware(Arithmetic):
    """Each operation rounded to its type; products of a chosen instruction as the target sums.

    Functions that hardware approximates (`math.exp2`, division in f32 without rounding …) are
    rounded correctly here: their bits are not those of a GPU.
    """

    name = "hardware"

    def dtype(self, number: Number) -> np.dtype[Any]:
        """That of numpy, or of ml_dtypes."""
        return float_dtype(number.name)

    def constant(self, values: Array, number: Number) -> Array:
        """Rounded to the type, which has the infinities that it is given."""
        rounded = narrowed(values, number.name)
        return np.where(np.isinf(values), values.astype(rounded.dtype), rounded)

    def decode(self, codes: Array, number: Number) -> Array:
        """The number that bits stand for."""
        return decode_floats(codes, number)

    def encode(self, values: Array, number: Number) -> Array:
        """The bits."""
        return encode_floats(values, number)

    def apply(self, fn: str, values: Sequence[Array], number: Number) -> Array:
        """In float64, then rounded to the type: right for sums, products and quotients of f32."""
        with np.errstate(all="ignore"):
            if fn == "math.fma" and number.name in ("f32", "f64"):
                return _fused(values, number)
            if number.name == "f64":
                return np.asarray(FUNCTIONS[fn](*values))
            wide = [value.astype(np.float64) for value in values]
            return narrowed(np.asarray(FUNCTIONS[fn](*wide)), number.name)

    def convert(self, values: Array, source: Number, result: Number) -> Array:
        """Rounded to nearest; narrow floats saturate."""
        wide = values.astype(np.float64 if source.name == "f64" else np.float32)
        return narrowed(wide, result.name)

    def from_integer(self, values: Array, result: Number) -> Array:
        """Rounded to nearest."""
        with np.errstate(all="ignore"):
            if result.name in ("f64", "f32"):
                return values.astype(self.dtype(result))
            return narrowed(values.astype(np.float64), result.name)

    def to_integer(self, values: Array, result: Number, *, signed: bool) -> Array:
        """The nearest integer toward zero that there is."""
        return nearest_integer(values, result.bits, signed=signed)

    def multiply(self, given: Matrices, of: ProductOf) -> Array:
        """As the target's tensor cores sum, where the instruction is known; else in float64."""
        if of.form is not None and of.target:
            with np.errstate(all="ignore"):
                return multiply_by(of.form, given, of.target).astype(self.dtype(of.d))
        return narrowed(multiply_wide(given), of.d.name)

    def draw(self, random: np.random.Generator, shape: tuple[int, ...], number: Number) -> Array:
        """Numbers about one in size."""
        return draw_floats(random, shape, number)


def _fused(values: Sequence[Array], number: Number) -> Array:
    """a·b + c, rounded once."""
    # Loads the simulator where a kernel asks for it.
    from tilec.sim.alu.arithmetic import arithmetic  # noqa: PLC0415

    fma = arithmetic("fma", number.bits, "rn")
    return np.asarray(fma(*(np.array(one) for one in np.broadcast_arrays(*values))))
