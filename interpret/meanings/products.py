"""Products of matrices: `tile.dot` and `tile.mma` with their sparse and block-scaled kin."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from tilec.dialects.tile.dots import DOTS
from tilec.dialects.tile.ops.dots import is_of_tensor_memory, tensor_dot
from tilec.dialects.tile.signs import FLAGS
from tilec.interpret.arithmetic.base import Matrices, ProductOf, Scales
from tilec.interpret.call import Call
from tilec.interpret.numbers import Array, Number, unsigned, wrap
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir
from tilec.isa import Kind, Product, form
from tilec.layout.selected import logical_place

_INSTRUCTIONS = {dot.instruction: dot for dot in DOTS.values()}


class Factors(NamedTuple):
    """What is multiplied and added.

    Attributes:
        a: (…, m, k), or of a sparse A what is stored, half of that.
        b: (…, k, n).
        c: (…, m, n).
        codes: of a sparse A, (…, m, chunks), 4 bits each.
        scales: of A and of B, if they are scaled.
    """

    a: Array
    b: Array
    c: Array
    codes: Array | None = None
    scales: Scales | None = None


def _form(call: Call) -> Product | None:
    """The instruction that the op names."""
    found = call.op.attributes.get("form")
    if not isinstance(found, ir.StringAttr):
        return None
    if is_of_tensor_memory(call.op):
        return tensor_dot(call.op)
    named = form(found.value)
    return named if isinstance(named, Product) else None


@meaning(*DOTS, *_INSTRUCTIONS)
def _product(call: Call, *values: Array) -> Array:
    name = call.node.name
    names = (DOTS.get(name) or _INSTRUCTIONS[name]).operands
    given = dict(zip(names, values, strict=True))
    found = call.fact("form", lambda: _form(call))
    codes, scales = given.get("e"), None
    if name in _INSTRUCTIONS and found is not None:
        codes = None if codes is None else sparse_codes(call, found, codes)
        given = {n: _selected_scales(call, found, n, v) for n, v in given.items()}
    if "sfa" in given:
        of = tuple(call.number(call.operand_type(names.index(n))) for n in ("sfa", "sfb"))
        scales = Scales(given["sfa"], given["sfb"], *of)
    factors = Factors(given["a"], given["b"], given["c"], codes, scales)
    return multiply(call, found, factors, call.fact("numbers", lambda: _numbers(call)))


def _numbers(call: Call) -> tuple[Number, Number, Number, Number]:
    a, b, c = (call.number(call.operand_type(at)) for at in range(3))
    return a, b, c, call.number(call.result_type())


def sparse_codes(call: Call, found: Product, codes: Array) -> Array:
    """The codes that an instruction reads, of those that its register holds for several."""
    cols, selector = found.operand("e").cols, call.integer("selector")
    return codes[..., selector * cols : (selector + 1) * cols]


def _selected_scales(call: Call, found: Product, name: str, values: Array) -> Array:
    """The scale factors that an instruction reads of an operand; another operand as it is."""
    if name not in ("sfa", "sfb"):
        return values
    side, operand = name[-1], found.operand(name)
    first, turn = call.integer(f"byte_id_{side}"), call.integer(f"thread_id_{side}")
    rows, cols = operand.rows, operand.cols
    if side == "a":
        return values[..., turn * rows : (turn + 1) * rows, first : first + cols]
    return values[..., first : first + rows, turn * cols : (turn + 1) * cols]


def multiply(
    call: Call,
    found: Product | None,
    factors: Factors,
    numbers: tuple[Number, Number, Number, Number],
) -> Array:
    """`a · b + c` of element types, by an instruction where it is known."""
    present = None
    if factors.codes is not None:
        dense, present = _dense(factors.a, factors.codes, factors.b.shape[-2])
        factors = factors._replace(a=dense)
    if not numbers[0].is_float:
        return _integers(call, found, factors, numbers)
    of = ProductOf(*numbers, found, call.cta.target)
    given = Matrices(factors.a, factors.b, factors.c, present, factors.scales)
    return call.arithmetic.multiply(given, of)


def _dense(stored: Array, codes: Array, depth: int) -> tuple[Array, Array]:
    """The matrix that a sparse A stands for, and which elements of it are stored.

    Of a code that is not defined both elements may have one place, where they are added.
    """
    codes = unsigned(codes, 4).astype(np.int64)
    column = np.arange(stored.shape[-1])
    each = stored.shape[-1] // codes.shape[-1]
    at = np.asarray(logical_place(depth // codes.shape[-1], codes[..., column // each], column))
    dense = np.zeros((*stored.shape[:-1], depth), stored.dtype)
    present = np.zeros(dense.shape, bool)
    np.put_along_axis(dense, at, stored, axis=-1)
    np.put_along_axis(present, at, True, axis=-1)
    return dense, present


def _integers(
    call: Call,
    found: Product | None,
    factors: Factors,
    numbers: tuple[Number, ...],
) -> Array:
    """Exact; wrapped, or clamped where the instruction does; of bits, counts of those set."""
    sides = []
    for name, value, number in zip("ab", factors, numbers, strict=False):
        assert isinstance(value, np.ndarray)
        plain = unsigned(value, number.bits).view(np.int64)
        signed = number.bits > 1 and not _is_unsigned(call, found, name)
        sides.append(wrap(value, number.bits) if signed else plain)
    a, b = sides
    total = np.matmul(a, b)
    if found is not None and found.bit_op == "xor":
        total = a.sum(axis=-1)[..., None] + b.sum(axis=-2)[..., None, :] - 2 * total
    total = total + factors.c
    bits = numbers[3].bits
    if found is not None and found.satfinite:
        return np.asarray(np.clip(total, -(1 << bits - 1), (1 << bits - 1) - 1))
    return wrap(total, bits)


def _is_unsigned(call: Call, found: Product | None, name: str) -> bool:
    if found is not None:
        return found.operand(name).type.kind is Kind.UNSIGNED
    return call.has(FLAGS[name])
