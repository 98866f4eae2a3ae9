"""D = A·B + C of one `wgmma.mma_async`, for many warpgroups at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tilec.isa import Product

from .algebraic import decode_numbers, encode_numbers, multiply_numbers
from .arithmetic import arithmetic
from .elements import decode, encode
from .floats import Inputs, Matrices, absent_of, addend_of, exact, fast, sides_of
from .indices import from_matrix, pick, to_matrix
from .product import integers
from .sparse import expand, logical_columns


@dataclass(frozen=True, slots=True)
class Operands:
    """What a product of warpgroups is made from.

    Attributes:
        a: values of A as stored, (warpgroups, 64, k), half as many columns if it is sparse.
        b: values of B, (warpgroups, k, n).
        c: registers of C, (warpgroups, registers, 128); None for zero.
        metadata: the register with the places of A's elements, (warpgroups, 1, 128), or None.
        selector: the sparsity selector.
    """

    a: Matrices
    b: Matrices
    c: Matrices | None
    metadata: Matrices | None = None
    selector: int = 0


def matrix_of(form: Product, name: str, registers: Matrices, numerics: str = "exact") -> Matrices:
    """An operand in registers, (warpgroups, registers, 128), as matrices of values."""
    operand = form.operand(name)
    algebraic = numerics == "algebraic" and operand.type.is_float
    return to_matrix(form, name, (decode_numbers if algebraic else decode)(operand, registers))


def multiply_warpgroups(form: Product, operands: Operands, *, arch: str, numerics: str) -> Matrices:
    """Execute one matrix product per warpgroup.

    Args:
        form: a form of `wgmma`.
        operands: what it multiplies, with the signs that the instruction gives them.
        arch: the target whose arithmetic is meant.
        numerics: `exact`, `fast` or `algebraic`, as for `product.multiply`.

    Returns:
        Registers of D, (warpgroups, registers, 128).
    """
    a, b = operands.a, operands.b
    present = None
    if operands.metadata is not None:
        codes = decode(form.operand("e"), operands.metadata)
        picked = pick(form, "e", codes, {"selector": operands.selector})
        columns = logical_columns(form, picked.astype(np.intp))
        if b.dtype.kind == "f" and not np.isfinite(b).all():
            present = expand(form.shape.k, np.ones(columns.shape, dtype=bool), columns)
        a = expand(form.shape.k, a, columns)
    c = _addend(form, operands, len(a), numerics)
    if numerics == "algebraic" and form.operand("a").type.is_float:
        held = from_matrix(form, "d", multiply_numbers(form, a, b, c))
        return encode_numbers(form.operand("d"), held)
    if not form.operand("a").type.is_float:
        d = integers(form, a, b, c)
    elif numerics == "fast":
        d = fast(Inputs(a, b, c, present))
    else:
        inputs = Inputs(a, b, c, present)
        rule = arithmetic(form, arch)
        sides = sides_of(form, inputs, rule)
        d = exact(form, rule, sides, addend_of(form, c), absent_of(inputs)).transpose(2, 0, 1)
    return encode(form.operand("d"), from_matrix(form, "d", d))


def _addend(form: Product, operands: Operands, count: int, numerics: str) -> Matrices:
    if operands.c is not None:
        return matrix_of(form, "c", operands.c, numerics)
    shape = (count, form.shape.m, form.shape.n)
    floats = form.operand("a").type.is_float and numerics != "algebraic"
    return np.zeros(shape, np.float32 if floats else np.int32)
