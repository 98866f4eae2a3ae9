"""Matrix products: an element of D depends on its row of A, its column of B, and its C."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tilec.isa import LANES, Product
from tilec.isa import Operand as MatrixOperand

from ..alu import Array
from ..matrix_forms import matrix_form
from ..tensor.indices import from_matrix, to_matrix
from ..widths import dtype_of
from .flows import Flow, Flowing
from .marks import combined

Flags = NDArray[np.bool_]


def flags_of(operand: MatrixOperand, shadows: NDArray[Any]) -> Flags:
    """Which elements of registers, (warps, registers, lanes), have an undefined bit.

    Returns:
        (warps, elements), in the order in which elements are decoded.
    """
    flat = np.ascontiguousarray(shadows).reshape(len(shadows), -1)
    each = operand.per_register
    parts = flat[..., None].view(np.uint8).reshape(*flat.shape, -1)
    if parts.shape[-1] >= each:
        flags = (parts.reshape(*flat.shape, each, -1) != 0).any(axis=-1)
    else:  # elements of less than a byte
        flags = np.repeat(parts != 0, each // parts.shape[-1], axis=-1)
    return np.asarray(flags.reshape(len(flat), -1))


def registers_of(operand: MatrixOperand, flags: Flags) -> NDArray[Any]:
    """The opposite: registers, (warps, registers, lanes), with the elements' bits undefined."""
    width = operand.register.bits // operand.per_register // 8
    parts = np.repeat(np.where(flags, 0xFF, 0).astype(np.uint8), width, axis=1)
    words = np.ascontiguousarray(parts).view(np.dtype(f"u{operand.register.bits // 8}"))
    return words.reshape(len(flags), operand.registers, -1)


def dependent(rows: Flags, columns: Flags, c: Flags | None) -> Flags:
    """Elements of D that depend on rows of A, (n, M), columns of B, (n, N), and C, (n, M, N)."""
    found = rows[:, :, None] | columns[:, None, :]
    return found if c is None else found | c


def multiply(flowing: Flowing) -> Flow:
    """`mma` and `wmma.mma`."""
    found = matrix_form(flowing.binding.instruction)
    assert isinstance(found, Product)
    form = found
    taint, where = flowing.taint, flowing.binding.instruction
    targets = [slot for slot in flowing.ordered(0) if slot is not None]
    numbers, at = {}, 1
    for operand in form.operands:
        numbers[operand.name] = at
        at += 2 if form.selectors_of(operand.name) else 1
    slots = {name: flowing.ordered(number) for name, number in numbers.items()}
    matrices = {slot for name in "abc" for slot in slots[name]}
    others = [slot for slot in flowing.sources if slot not in matrices]

    def flags(name: str) -> Flags:
        bits = form.operand(name).register.bits
        elements = flags_of(form.operand(name), _gathered(flowing, slots[name], bits))
        found = to_matrix(form, name, elements)
        return np.asarray(found.reshape(-1, *found.shape[-2:]))

    def flow() -> None:
        if not taint.any(flowing.sources):
            taint.define(targets)
            return
        _, origin = combined(taint.of(where, flowing.sources))
        origin = np.asarray(origin.max(axis=2, keepdims=True))
        if taint.any(others):
            taint.write_whole(targets, np.ones((1, 1, 1), np.bool_), origin)
            return
        rows, columns = flags("a").any(axis=-1), flags("b").any(axis=-2)
        d = dependent(np.asarray(rows), np.asarray(columns), flags("c"))
        elements = from_matrix(form, "d", d.reshape(len(d) // form.products, -1))
        _spread(flowing, targets, registers_of(form.operand("d"), elements), origin)

    return flow


def _gathered(flowing: Flowing, slots: Sequence[int | None], bits: int) -> NDArray[Any]:
    """Shadows of registers of so many bits, (warps, registers, lanes); None is a constant."""
    shadows = flowing.replay.shadows(slot for slot in slots if slot is not None)
    full = flowing.machine.full
    zero = np.zeros((1, 1, 1), dtype_of(bits))
    each = [full(zero if slot is None else shadows[slot]) for slot in slots]
    stacked = np.stack(each, axis=2)
    return stacked.reshape(-1, len(slots), LANES)


def _spread(flowing: Flowing, targets: Sequence[int], shadows: NDArray[Any], origin: Array) -> None:
    """Registers, (warps, registers, lanes), are the shadows of the targets."""
    ctas, warps, lanes = flowing.machine.shape
    split = shadows.reshape(ctas, warps, len(targets), lanes)
    for number, slot in enumerate(targets):
        flowing.taint.write(slot, split[:, :, number], origin)
