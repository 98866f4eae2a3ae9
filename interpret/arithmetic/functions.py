"""Upstream's functions of floats in numpy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np
from tilec.interpret.numbers import Array


def _erf(x: Array) -> Array:
    from math import erf  # noqa: PLC0415

    return np.asarray(np.vectorize(erf, otypes=[np.float64])(x))


FUNCTIONS: Mapping[str, Callable[..., Array]] = MappingProxyType(
    {
        "arith.addf": np.add,
        "arith.subf": np.subtract,
        "arith.mulf": np.multiply,
        "arith.divf": np.divide,
        "arith.remf": np.fmod,
        "arith.negf": np.negative,
        "arith.maximumf": np.maximum,
        "arith.minimumf": np.minimum,
        "arith.maxnumf": np.fmax,
        "arith.minnumf": np.fmin,
        "math.absf": np.abs,
        "math.fma": lambda a, b, c: a * b + c,
        "math.copysign": np.copysign,
        "math.powf": np.power,
        "math.sqrt": np.sqrt,
        "math.rsqrt": lambda x: 1 / np.sqrt(x),
        "math.ceil": np.ceil,
        "math.floor": np.floor,
        "math.trunc": np.trunc,
        "math.roundeven": np.rint,
        "math.round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
        "math.exp": np.exp,
        "math.exp2": np.exp2,
        "math.expm1": np.expm1,
        "math.log": np.log,
        "math.log2": np.log2,
        "math.log10": np.log10,
        "math.log1p": np.log1p,
        "math.sin": np.sin,
        "math.cos": np.cos,
        "math.tanh": np.tanh,
        "math.erf": _erf,
    }
)
"""By the op's name; of float64."""
