"""Products of float matrices: bit by bit as an architecture forms them, or fast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Product
from tilec.isa.dtypes import numpy_type

from .arithmetic import ZERO, Arithmetic, Method, Rounding
from .dot import Accumulators, Factors, canonical, dot, factors

Matrices = NDArray[Any]
"""(warps, rows, cols)."""

CHUNK = 1 << 15
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


def exact(
    form: Product,
    arithmetic: Arithmetic,
    sides: tuple[Factors, Factors],
    c: Accumulators,
    absent: NDArray[np.bool_] | None = None,
) -> Accumulators:
    """The bits that tensor cores give.

    Args:
        form: the form.
        arithmetic: of the architecture.
        sides: what `sides_of` makes of A and B.
        c: (m, n, warps), in the format of C.
        absent: (k, m, 1, warps), which elements of A are not stored, where that matters.

    Returns:
        (m, n, warps).
    """
    a, b = sides
    chunk = max(1, CHUNK // c[..., 0].size)
    found: list[NDArray[Any]] = []
    for start in range(0, c.shape[-1], chunk):
        part = np.s_[..., start : start + chunk]
        missing = None if absent is None else absent[part]
        found.append(_exact(form, arithmetic, (a.at(part), b.at(part)), c[part], missing))
    d: Accumulators = np.concatenate(found, axis=-1) if len(found) > 1 else found[0]
    return d


def _exact(
    form: Product,
    arithmetic: Arithmetic,
    sides: tuple[Factors, Factors],
    c: Accumulators,
    absent: NDArray[np.bool_] | None,
) -> Accumulators:
    a, b = sides
    if arithmetic.method is Method.SCALARS:
        return _scalars(a, b, c, half=arithmetic.step.rounding is Rounding.RNE16)
    # Steps are counted in stored elements: an absent one takes no place.
    spread = form.shape.k // form.operand("a").cols
    step = replace(arithmetic.step, terms=arithmetic.step.terms * spread)
    if arithmetic.method is not Method.HALVES:
        return dot(step, a, b, c, absent)
    stored = np.arange(form.shape.k) // spread
    d: Accumulators = np.zeros_like(c)
    for part in (stored % 4 < 2, stored % 4 >= 2):
        d = dot(step, a.at(part), b.at(part), d, None if absent is None else absent[part])
    with np.errstate(all="ignore"):
        return canonical(d + c)


def _scalars(a: Factors, b: Factors, c: Accumulators, *, half: bool) -> Accumulators:
    """Four products by fused multiply-adds of f32; C comes last, or before two pairs if `half`.

    Float64 holds products of f16 exactly, and of a sum with one all that rounding to f32 asks for.
    """
    with np.errstate(all="ignore"):
        terms = a.values * b.values
        total = c.astype(np.float32)
        for members in ((0, 1), (2, 3)) if half else ((0, 1, 2, 3),):
            # A pair begins with its first product, the chain with zero.
            part = np.full(terms.shape[1:], -0.0 if half else 0.0, np.float32)
            for k in members:
                part = (part + terms[k]).astype(np.float32)
            total = total + part
        d: Accumulators = total.astype(np.float16) if half else total
    bits = d.view(np.uint16 if half else np.uint32)
    bits[np.isnan(d)] = 0x7FFF if half else 0x7FFFFFFF
    return d


def sides_of(form: Product, inputs: Inputs, arithmetic: Arithmetic) -> tuple[Factors, Factors]:
    """A as (k, m, 1, warps) and B as (k, 1, n, warps), scaled.

    Where products are summed in groups first, the scaled sums, and ones.
    """
    if arithmetic.method is Method.GROUPS:
        terms = _groups(form, inputs, GROUP * form.shape.k // form.operand("a").cols)
        shape = (len(terms.values), 1, 1, inputs.c.shape[0])
        return terms, Factors(np.ones(shape), np.zeros(shape, np.int16))
    a, b = side_of(form, "a", inputs.a), side_of(form, "b", inputs.b)
    if inputs.scale_a is not None:
        a = a * _scales(form, "sfa", inputs.scale_a, form.shape.k).at(np.s_[:, :, None])
        b = b * _scales(form, "sfb", inputs.scale_b, form.shape.k).at(np.s_[:, None])
    return a, b


def side_of(form: Product, name: str, matrices: Matrices) -> Factors:
    """A or B as `sides_of` has it, without scales."""
    found = factors(_k_first(matrices, 2 if name == "a" else 1), form.operand(name).type)
    return found.at(np.s_[:, :, None] if name == "a" else np.s_[:, None])


def addend_of(form: Product, matrices: Matrices) -> Accumulators:
    """C as (m, n, warps)."""
    format_c = numpy_type(form.operand("c").type)
    return np.ascontiguousarray(matrices.transpose(1, 2, 0), dtype=format_c)


def absent_of(inputs: Inputs) -> NDArray[np.bool_] | None:
    """Which elements of A are absent, (k, m, 1, warps), where it matters."""
    return None if inputs.present is None else ~_k_first(inputs.present, 2)[:, :, None]


def _groups(form: Product, inputs: Inputs, group: int) -> Factors:
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


def _scales(form: Product, name: str, scales: Matrices | None, k: int) -> Factors:
    """Scale factors spread over `k` terms, (k, m or n, warps)."""
    assert scales is not None
    return factors(_k_first(scales, 2 if name == "sfa" else 1), form.operand(name).type).spread(k)


def _k_first(matrices: Matrices, k_axis: int) -> Matrices:
    """Warps last, where loops over them are long; k first, which is what sums run over."""
    return np.ascontiguousarray(matrices.transpose(k_axis, 3 - k_axis, 0))


def _spread(scales: Matrices, k: int, axis: int) -> Matrices:
    return scales.repeat(k // scales.shape[axis], axis=axis)
