"""D = A·B + C of one `mma` or `wmma.mma` for many warps at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Mma, TilecError, WmmaMma

from .arithmetic import arithmetic
from .elements import decode, encode
from .floats import Inputs, Matrices, exact, fast
from .fma import fma
from .places import Selected, from_matrix, pick, to_matrix
from .sparse import expand, logical_columns

Registers = Mapping[str, NDArray[Any]]
"""Operands by name, each (warps, registers, 32)."""

NUMERICS = ("exact", "fast")


def multiply(
    form: Mma | WmmaMma,
    operands: Registers,
    selectors: Selected,
    *,
    arch: str,
    numerics: str,
) -> NDArray[Any]:
    """Execute one matrix product per warp.

    Args:
        form: the instruction.
        operands: each operand by name, (warps, registers, 32): uint64 where registers are f64,
            else uint32.
        selectors: each selector by name, one value or one a warp.
        arch: the target whose arithmetic is meant, such as `sm_90a`.
        numerics: `exact`, the bits of `arch`; or `fast`, float sums in any order and precision
            of float32. Integers, single bits and f64 are exact in both.

    Returns:
        D, (warps, registers, 32).

    Raises:
        TilecError: if `arch` has no arithmetic for the form, or for another `numerics`.
    """
    if numerics not in NUMERICS:
        raise TilecError(f"numerics '{numerics}' is neither exact nor fast")
    a, b, c = (_matrices(form, name, operands) for name in "abc")
    columns = None
    if isinstance(form, Mma) and form.sparsity:
        columns = logical_columns(form, _picked(form, "e", operands, selectors).astype(np.intp))
        a = expand(form.shape.k, a, columns)
    type_ = form.operand("a").type
    if type_.name == "f64":
        d = _chain(a, b, c, form.rounding or "rn")
    elif type_.is_float:
        inputs = Inputs(a, b, c)
        if columns is not None and not np.isfinite(b).all():
            present = expand(form.shape.k, np.ones(columns.shape, dtype=bool), columns)
            inputs = replace(inputs, present=present)
        if isinstance(form, Mma) and form.scaling:
            scales = (_picked(form, name, operands, selectors) for name in ("sfa", "sfb"))
            inputs = replace(inputs, **dict(zip(("scale_a", "scale_b"), scales, strict=True)))
        d = fast(inputs) if numerics == "fast" else exact(form, inputs, arithmetic(form, arch))
    else:
        d = _integers(form, a, b, c)
    result = form.operand("d")
    warps = len(operands["c"])
    return encode(result, from_matrix(form, "d", d.reshape(warps, -1)))


def _matrices(form: Mma | WmmaMma, name: str, operands: Registers) -> Matrices:
    """All products' matrices of an operand, (warps · products, rows, cols)."""
    found = to_matrix(form, name, decode(form.operand(name), operands[name]))
    return found.reshape(-1, *found.shape[-2:])


def _picked(form: Mma, name: str, operands: Registers, selectors: Selected) -> Matrices:
    """An operand of which the selectors pick some, (warps, rows, cols)."""
    return pick(form, name, decode(form.operand(name), operands[name]), selectors)


def _chain(a: Matrices, b: Matrices, c: Matrices, rounding: str) -> Matrices:
    """f64: a chain of fused multiply-adds, k ascending."""
    for k in range(a.shape[2]):
        c = fma(a[:, :, k, None], b[:, k, None, :], c, rounding)
    return c


def _integers(form: Mma | WmmaMma, a: Matrices, b: Matrices, c: Matrices) -> Matrices:
    """s32 sums, wrapped or clamped; a float32 product of such matrices is exact below 2^24."""
    exact = np.matmul(a, b)
    if form.bit_op == "xor":  # of which the population count is |a| + |b| - 2 |a and b|
        exact = a.sum(axis=2, keepdims=True) + b.sum(axis=1, keepdims=True) - 2 * exact
    total: Matrices = exact.astype(np.int64) + c
    if form.satfinite:
        limits = np.iinfo(np.int32)
        total = total.clip(limits.min, limits.max)
    return total.astype(np.int32)
