"""`tile.dot` and `tile.mma`: products of matrices."""

from __future__ import annotations

import numpy as np
from tilec.dialects.tile.signs import FLAGS
from tilec.interpret.arithmetic.base import ProductOf
from tilec.interpret.call import Call
from tilec.interpret.numbers import Array, Number, unsigned, wrap
from tilec.interpret.registry import meaning
from tilec.ir.mlir import ir
from tilec.isa import Kind, Product, form


def _form(call: Call) -> Product | None:
    """The instruction that the op names."""
    found = call.op.attributes.get("form")
    if not isinstance(found, ir.StringAttr):
        return None
    named = form(found.value)
    return named if isinstance(named, Product) else None


@meaning("tile.dot", "tile.mma")
def _product(call: Call, a: Array, b: Array, c: Array) -> Array:
    found = call.fact("form", lambda: _form(call))
    if found is not None and (found.products != 1 or found.bit_op):
        call.unknown(f"{found.ptx}, which is more than one product or one of bits")
    numbers = call.fact("numbers", lambda: _numbers(call))
    if numbers[0].is_float:
        of = ProductOf(*numbers, found, call.cta.target)
        return call.arithmetic.multiply(a, b, c, of)
    return _integers(call, found, (a, b, c), numbers)


def _numbers(call: Call) -> tuple[Number, Number, Number, Number]:
    a, b, c = (call.number(call.operand_type(at)) for at in range(3))
    return a, b, c, call.number(call.result_type())


def _integers(
    call: Call,
    found: Product | None,
    values: tuple[Array, Array, Array],
    numbers: tuple[Number, ...],
) -> Array:
    """Exact; wrapped, or clamped where the instruction does."""
    sides = []
    for name, value, number in zip("ab", values, numbers, strict=False):
        plain = unsigned(value, number.bits).view(np.int64)
        sides.append(plain if _is_unsigned(call, found, name) else wrap(value, number.bits))
    total = np.matmul(*sides) + values[2]
    bits = numbers[3].bits
    if found is not None and found.satfinite:
        return np.asarray(np.clip(total, -(1 << bits - 1), (1 << bits - 1) - 1))
    return wrap(total, bits)


def _is_unsigned(call: Call, found: Product | None, name: str) -> bool:
    if found is not None:
        return found.operand(name).type.kind is Kind.UNSIGNED
    return call.has(FLAGS[name])
