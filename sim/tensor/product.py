"""D = A·B + C of one `mma` or `wmma.mma` for many warps at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import Product, TilecError
from tilec.isa.dtypes import numpy_type

from ..numerics import NUMERICS
from .algebraic import decode_numbers, encode_numbers, multiply_numbers
from .arithmetic import Arithmetic, arithmetic
from .dot import Factors
from .elements import decode, encode
from .floats import Inputs, Matrices, absent_of, addend_of, exact, fast, side_of, sides_of
from .fma import fma
from .fragment import Fragment
from .indices import Selected, from_matrix, pick, to_matrix
from .sparse import expand, logical_columns

Registers = Mapping[str, NDArray[Any]]
"""Operands by name, each (warps, registers, 32)."""

Fragments = Mapping[str, Fragment]
"""Operands by name."""


def multiply(
    form: Product,
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
        numerics: `exact`, the bits of `arch`; `fast`, float sums in any order and precision
            of float32; `algebraic`, floats as integers modulo 2^w, w their width (`isa.algebra`).
            Integers and single bits are exact in all, f64 in the first two.

    Returns:
        D, (warps, registers, 32).

    Raises:
        TilecError: if `arch` has no arithmetic for the form, or for another `numerics`.
    """
    fragments = {name: Fragment(registers) for name, registers in operands.items()}
    return multiply_fragments(form, fragments, selectors, arch=arch, numerics=numerics).registers


def multiply_fragments(
    form: Product,
    fragments: Fragments,
    selectors: Selected,
    *,
    arch: str,
    numerics: str,
) -> Fragment:
    """`multiply` for operands that other products share: they are decoded once."""
    if numerics not in NUMERICS:
        raise TilecError(f"numerics is '{numerics}'; legal: {', '.join(NUMERICS)}")
    type_ = form.operand("a").type
    if type_.is_float and numerics == "algebraic":
        return _algebraic(form, fragments, selectors)
    if type_.is_float and type_.name != "f64":
        if numerics == "fast":
            return _result(form, fast(_inputs(form, fragments, selectors)))
        return _exact(form, fragments, selectors, arithmetic(form, arch))
    a, b, c = (_matrices(form, name, fragments) for name in "abc")
    if type_.is_float:
        return _result(form, _chain(a, b, c, form.rounding or "rn"))
    if form.sparsity:
        a = expand(form.shape.k, a, _columns(form, fragments, selectors))
    return _result(form, integers(form, a, b, c))


def _inputs(form: Product, fragments: Fragments, selectors: Selected) -> Inputs:
    """Matrices of floats, as they stand for, with scale factors."""
    a, b, c = (_matrices(form, name, fragments) for name in "abc")
    inputs = Inputs(a, b, c)
    if form.sparsity:
        columns = _columns(form, fragments, selectors)
        inputs = replace(inputs, a=expand(form.shape.k, a, columns))
        if not np.isfinite(b).all():
            stored = np.ones(columns.shape, dtype=bool)
            inputs = replace(inputs, present=expand(form.shape.k, stored, columns))
    if form.scaling:
        scale_a, scale_b = (_picked(form, n, fragments, selectors) for n in ("sfa", "sfb"))
        inputs = replace(inputs, scale_a=scale_a, scale_b=scale_b)
    return inputs


def _algebraic(form: Product, fragments: Fragments, selectors: Selected) -> Fragment:
    """The product of floats that are integers."""
    matrices = []
    for name in "abc":
        found = to_matrix(form, name, decode_numbers(form.operand(name), fragments[name].registers))
        matrices.append(found.reshape(-1, *found.shape[-2:]))
    a, b, c = matrices
    if form.sparsity:
        a = expand(form.shape.k, a, _columns(form, fragments, selectors))
    d = multiply_numbers(form, a, b, c)
    warps = len(d) // form.products
    held = from_matrix(form, "d", d.reshape(warps, -1))
    return Fragment(encode_numbers(form.operand("d"), held))


def _exact(
    form: Product, fragments: Fragments, selectors: Selected, arithmetic: Arithmetic
) -> Fragment:
    absent = None
    if form.sparsity or form.scaling:
        inputs = _inputs(form, fragments, selectors)
        sides, absent = sides_of(form, inputs, arithmetic), absent_of(inputs)
    else:
        sides = _side(form, "a", fragments), _side(form, "b", fragments)
    addend = "addend", form.ptx, "c"
    c = fragments["c"].made(addend, lambda: addend_of(form, _matrices(form, "c", fragments)))
    d = exact(form, arithmetic, sides, c, absent)
    result = _result(form, d.transpose(2, 0, 1))
    if d.dtype == c.dtype == numpy_type(form.operand("d").type):
        result.keep(addend, d)
    return result


def _side(form: Product, name: str, fragments: Fragments) -> Factors:
    """A or B as the exact product takes it."""

    def make() -> Factors:
        return side_of(form, name, _matrices(form, name, fragments))

    return fragments[name].made(("side", form.ptx, name), make)


def _result(form: Product, d: Matrices) -> Fragment:
    """D in registers; as a matrix too, for the product of which it is the addend."""
    c, operand = form.operand("c"), form.operand("d")
    warps = len(d) // form.products
    result = Fragment(lambda: encode(operand, from_matrix(form, "d", d.reshape(warps, -1))))
    if c.type == operand.type and d.dtype == numpy_type(c.type) and c.container >= 32:
        result.keep(("matrix", form.ptx, "c"), d)
    return result


def _matrices(form: Product, name: str, fragments: Fragments) -> Matrices:
    """All products' matrices of an operand, (warps · products, rows, cols)."""

    def make() -> Matrices:
        elements = decode(form.operand(name), fragments[name].registers)
        found = to_matrix(form, name, elements)
        return found.reshape(-1, *found.shape[-2:])

    return fragments[name].made(("matrix", form.ptx, name), make)


def _columns(form: Product, fragments: Fragments, selectors: Selected) -> NDArray[np.intp]:
    """Logical columns of the stored elements of a sparse A."""
    return logical_columns(form, _picked(form, "e", fragments, selectors).astype(np.intp))


def _picked(form: Product, name: str, fragments: Fragments, selectors: Selected) -> Matrices:
    """An operand of which the selectors pick some, (warps, rows, cols)."""
    return pick(form, name, decode(form.operand(name), fragments[name].registers), selectors)


def _chain(a: Matrices, b: Matrices, c: Matrices, rounding: str) -> Matrices:
    """f64: a chain of fused multiply-adds, k ascending."""
    for k in range(a.shape[2]):
        c = fma(a[:, :, k, None], b[:, k, None, :], c, rounding)
    return c


def integers(form: Product, a: Matrices, b: Matrices, c: Matrices) -> Matrices:
    """s32 sums, wrapped or clamped; a float32 product of such matrices is exact below 2^24."""
    exact = np.matmul(a, b)
    if form.bit_op == "xor":  # of which the population count is |a| + |b| - 2 |a and b|
        exact = a.sum(axis=2, keepdims=True) + b.sum(axis=1, keepdims=True) - 2 * exact
    total: Matrices = exact.astype(np.int64) + c
    if form.satfinite:
        limits = np.iinfo(np.int32)
        total = total.clip(limits.min, limits.max)
    return total.astype(np.int32)
