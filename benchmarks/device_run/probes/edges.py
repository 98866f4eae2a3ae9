"""Sums at the edge of the accumulators: the sign of what is cut to zero, the exponent of zeros."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from tilec.isa import Mma
from tilec.isa import form as find_form

from ..driver import Cuda
from .answer import Row, answer
from .warp import Warp

_F16 = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16"
_BF16 = "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"


class Case(NamedTuple):
    """Products of one row with one column, and what hypotheses expect of their sum.

    Attributes:
        form: the instruction, of 16 products.
        pairs: factors of the products; those that are left out are zero.
        c: the addend.
        wanted: bits by hypothesis.
    """

    form: str
    pairs: list[tuple[float, float]]
    c: float
    wanted: Mapping[str, int]


SIGNS = {
    "sign of a negative sum cut to zero": [
        Case(_F16, [(-(2.0**-14), 2.0**-14)], 0.0, {"+0": 0, "-0": 0x8000}),
        Case(_F16, [(-(2.0**-14), 2.0**-14)] * 3, 0.0, {"+0": 0, "-0": 0x8000}),
        Case(_BF16, [(-(2.0**-100), 2.0**-50)], 0.0, {"+0": 0, "-0": 1 << 31}),
        Case(_BF16, [(-(2.0**-100), 2.0**-52)] * 3, 0.0, {"+0": 0, "-0": 1 << 31}),
    ],
    "sign of a sum whose terms are all cut to zero": [
        Case(_BF16, [(-(2.0**-100), 2.0**-100)], 0.0, {"+0": 0, "-0": 1 << 31}),
        Case(
            _BF16, [(2.0, 2.0), (-2.0, 2.0), (-(2.0**-20), 2.0**-20)], 0.0, {"+0": 0, "-0": 1 << 31}
        ),
    ],
    "sign of a sum of negative zeros": [
        Case(_F16, [(-0.0, 1.0)] * 16, -0.0, {"+0": 0, "-0": 0x8000}),
        Case(_BF16, [(-0.0, 1.0)] * 16, -0.0, {"+0": 0, "-0": 1 << 31}),
    ],
}

_TINY, _LEAST = 2.0**-14, 2.0**-24
# Eight products make half of f16's least subnormal, which rounds to zero; the rest, if it is not
# cut, lifts the sum above the half.
_HALF = [(_TINY, _TINY)] * 8
_REST = [(_LEAST, _LEAST)]
# f32's least subnormal, less so little that only a low exponent of zeros leaves it.
_LESS = [(2.0**-100, 2.0**-49), (-(2.0**-100), 2.0**-60)]

_CLAMP = "a lower bound on the largest exponent, whatever the terms"
_PRODUCTS = "of zero products, not of a zero C"
_NONE = "none: zeros have no exponent"

ZEROS = {
    "exponent of zero terms": [
        Case(_F16, _HALF + _REST * 8, 0.0, {_CLAMP: 0, _PRODUCTS: 1, _NONE: 1}),
        Case(_F16, _HALF + _REST * 7, 0.0, {_CLAMP: 0, _PRODUCTS: 0, _NONE: 1}),
        Case(_BF16, _LESS, 0.0, {_CLAMP: 1, _PRODUCTS: 1, _NONE: 0}),
    ],
}


def probes(cuda: Cuda, target: str) -> Iterator[Row]:
    """A row for each question and form."""
    for question, cases in {**SIGNS, **ZEROS}.items():
        for name in dict.fromkeys(case.form for case in cases):
            form = find_form(name)
            assert isinstance(form, Mma)
            warp = Warp(cuda, form, target)
            chosen = [case for case in cases if case.form == name]
            got = np.array([warp.multiply(_matrices(form, case))[0, 0] for case in chosen])
            warp.close()
            wanted = {
                label: np.array([case.wanted[label] for case in chosen], got.dtype)
                for label in chosen[0].wanted
            }
            given = {"pairs and C": [(case.pairs, case.c) for case in chosen]}
            yield answer(question, name, got, wanted, given)


def _matrices(form: Mma, case: Case) -> dict[str, Any]:
    m, n, k = form.shape
    a, b, c = np.zeros((m, k)), np.zeros((k, n)), np.zeros((m, n))
    for at, (left, right) in enumerate(case.pairs):
        a[0, at], b[at, 0] = left, right
    c[0, 0] = case.c
    return {"a": a, "b": b, "c": c}
