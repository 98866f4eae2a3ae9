"""`selp`, `slct`, `testp` (PTX ISA, "Comparison and Selection", "Floating Point Instructions")."""

from __future__ import annotations

from typing import cast

import numpy as np

from .bits import FLOAT, SIGNED, Array, Operation, number_dtype, register_dtype
from .registry import Moves, form, moving
from .special import quiet
from .syntax import Qualifiers

_FLOATS = ("f32", "f64")
_SELECTED = (
    *("b16", "b32", "b64"),
    *("u16", "u32", "u64"),
    *("s16", "s32", "s64"),
    *_FLOATS,
)


@form("selp.type", "type = type type pred", type=_SELECTED)
@moving(Moves.EVENLY)
def _selp(_: Qualifiers) -> Operation:
    return lambda a, b, p: np.where(p, a, b)


@form("slct.type.s32", "type = type type s32", type=_SELECTED)
def _slct_s32(_: Qualifiers) -> Operation:
    return lambda a, b, c: np.where(c.view(SIGNED[32]) >= 0, a, b)


@form("slct{.ftz}.type.f32", "type = type type f32", type=_SELECTED)
def _slct_f32(q: Qualifiers) -> Operation:
    # a negative subnormal, flushed, is a zero, which selects a
    negative_zero = np.float32(-(2.0**-126)) if "ftz" in q else None

    def run(a: Array, b: Array, c: Array) -> Array:
        selector = c.view(FLOAT[32])
        chosen = selector >= 0 if negative_zero is None else selector > negative_zero
        return np.where(chosen, a, b)

    return quiet(run)


_TESTS = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")


@form("testp.test.type", "pred = type", test=_TESTS, type=_FLOATS)
def _testp(q: Qualifiers) -> Operation:
    number, register = number_dtype(q["type"]), register_dtype(q["type"])
    tiny = np.finfo(number).smallest_normal
    one, magnitude = register.type(1), register.type(2 ** (register.itemsize * 8 - 1) - 1)
    infinity = number.type(np.inf).view(register)
    smallest = tiny.view(register)

    def subnormal(a: Array) -> Array:
        # one wraps zero to the largest number
        return cast(Array, np.less(np.subtract(a & magnitude, one), smallest - one))

    tests: dict[str, Operation] = {
        "finite": lambda a: np.less(a & magnitude, infinity),
        "infinite": lambda a: np.equal(a & magnitude, infinity),
        "number": lambda a: np.less_equal(a & magnitude, infinity),
        "notanumber": lambda a: np.greater(a & magnitude, infinity),
        # zeros count as normal
        "normal": lambda a: np.less(a & magnitude, infinity) & ~subnormal(a),
        "subnormal": subnormal,
    }
    return tests[q["test"]]
