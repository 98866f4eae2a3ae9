"""Products of float matrices: bit by bit as an architecture forms them, or fast."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Mma, WmmaMma
from tilec.isa.dtypes import numpy_type

from .arithmetic import Arithmetic, Method, Step
from .dot import ZERO, Accumulators, Factors, canonical, dot, factors

Matrices = NDArray[Any]
"""(warps, rows, cols)."""

CHUNK = 1 << 13
"""Accumulators computed at a time, so that they stay in the cache."""

GROUP = 16
"""Stored elements along K that the packed 4-bit kinds sum exactly."""


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a product of floats is made from.

    Attributes:
        a, b, c: values, (warps, m, k), (warps, k, n) and (warps, m, n); of a sparse A the
            matrix that it stands for.
        present: (warps, m, k), which elements of A are stored, where some are not and it
            matters: where B has infinities or NaNs, which an absent element does not meet.
        scale_a, scale_b: (warps, m, chunks) and (warps, chunks, n), of block-scaled forms.
    """

    a: Matrices
    b: Matrices
    c: Matrices
    present: NDArray[np.bool_] | None = None
    scale_a: Matrices | None = None
    scale_b: Matrices | None = None

    def warps(self, part: slice) -> Inputs:
        """Those of some warps."""
        every: list[Any] = [getattr(self, field.name) for field in fields(self)]
        some: list[Any] = [None if one is None else one[part] for one in every]
        return Inputs(*some)


def fast(inputs: Inputs) -> Matrices:
    """float32 sums in any order; float64 where scales could leave the range of float32."""
    a, b = inputs.a, inputs.b
    with np.errstate(all="ignore"):
        if inputs.scale_a is not None and inputs.scale_b is not None:
            a = a * _spread(inputs.scale_a, a.shape[2], 2).astype(np.float64)
            b = b * _spread(inputs.scale_b, b.shape[1], 1)
        if inputs.present is None:
            d: Matrices = np.matmul(a, b) + inputs.c
        else:
            terms = a[..., None] * b[:, None]
            d = np.where(inputs.present[..., None], terms, 0).sum(axis=2) + inputs.c
    return d


def exact(form: Mma | WmmaMma, inputs: Inputs, arithmetic: Arithmetic) -> Matrices:
    """The bits that tensor cores give."""
    chunk = max(1, CHUNK // inputs.c[0].size)
    parts = [slice(i, i + chunk) for i in range(0, len(inputs.c), chunk)]
    return np.concatenate([_exact(form, inputs.warps(part), arithmetic) for part in parts])


def _exact(form: Mma | WmmaMma, inputs: Inputs, arithmetic: Arithmetic) -> Matrices:
    # Steps are counted in stored elements: an absent one takes no place.
    spread = form.shape.k // form.operand("a").cols
    step = replace(arithmetic.step, terms=arithmetic.step.terms * spread)
    format_c = numpy_type(form.operand("c").type)
    c = np.ascontiguousarray(inputs.c.transpose(1, 2, 0), dtype=format_c)
    match arithmetic.method:
        case Method.CHAIN:
            d = dot(step, *_sides(form, inputs), c, _absent(inputs))
        case Method.HALVES:
            d = _halves(form, inputs, step, c)
        case Method.GROUPS:
            terms = _groups(form, inputs, GROUP * spread)
            count = (len(terms.values), 1, 1, 1)
            d = dot(step, terms, Factors(np.ones(count), np.zeros(count, np.int16)), c)
    return d.transpose(2, 0, 1)


def _halves(form: Mma | WmmaMma, inputs: Inputs, step: Step, c: Accumulators) -> Accumulators:
    """Half of k in a chain from zero, the rest in a chain from that, and c in a plain addition."""
    a, b = _sides(form, inputs)
    absent = _absent(inputs)
    stored = np.arange(form.shape.k) * form.operand("a").cols // form.shape.k
    d: Accumulators = np.zeros_like(c)
    for part in (stored % 4 < 2, stored % 4 >= 2):
        d = dot(step, a.at(part), b.at(part), d, None if absent is None else absent[part])
    with np.errstate(all="ignore"):
        return canonical(d + c)


def _groups(form: Mma | WmmaMma, inputs: Inputs, group: int) -> Factors:
    """Sums of `group` products along K, exact in float32 for e2m1, and scaled."""
    warps, m, k = inputs.a.shape
    a = inputs.a.reshape(warps, m, k // group, group).transpose(0, 2, 1, 3)
    b = inputs.b.reshape(warps, k // group, group, -1)
    sums = np.matmul(a, b).transpose(1, 2, 3, 0).astype(np.float64)
    # A group of which every product is zero has a zero's exponent; one that cancels has not.
    nothing = (np.matmul(np.abs(a), np.abs(b)) == 0).transpose(1, 2, 3, 0)
    terms = Factors(sums, np.where(nothing, np.int16(ZERO), np.int16(0)))
    scale_a = _scales(form, "sfa", inputs.scale_a, k // group)
    scale_b = _scales(form, "sfb", inputs.scale_b, k // group)
    return terms * scale_a.at(np.s_[:, :, None]) * scale_b.at(np.s_[:, None])


def _sides(form: Mma | WmmaMma, inputs: Inputs) -> tuple[Factors, Factors]:
    """A as (k, m, 1, warps) and B as (k, 1, n, warps), scaled."""
    k = form.shape.k
    a = factors(_k_first(inputs.a, 2), form.operand("a").type)
    b = factors(_k_first(inputs.b, 1), form.operand("b").type)
    if inputs.scale_a is not None:
        a = a * _scales(form, "sfa", inputs.scale_a, k)
        b = b * _scales(form, "sfb", inputs.scale_b, k)
    return a.at(np.s_[:, :, None]), b.at(np.s_[:, None])


def _scales(form: Mma | WmmaMma, name: str, scales: Matrices | None, k: int) -> Factors:
    """Scale factors spread over `k` terms, (k, m or n, warps)."""
    assert scales is not None
    return factors(_k_first(scales, 2 if name == "sfa" else 1), form.operand(name).type).spread(k)


def _absent(inputs: Inputs) -> NDArray[np.bool_] | None:
    return None if inputs.present is None else ~_k_first(inputs.present, 2)[:, :, None]


def _k_first(matrices: Matrices, k_axis: int) -> Matrices:
    """Warps last, where loops over them are long; k first, which is what sums run over."""
    return np.ascontiguousarray(matrices.transpose(k_axis, 3 - k_axis, 0))


def _spread(scales: Matrices, k: int, axis: int) -> Matrices:
    return scales.repeat(k // scales.shape[axis], axis=axis)
