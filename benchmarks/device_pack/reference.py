"""numpy's product of the matrices that a kernel was given, beside the simulator's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from device_run.trial import Memory
from tilec.dialects.tile.form_program import FormKernel
from tilec.isa import Mma, Operand, WmmaMma
from tilec.runtime import expand, unpack

TOLERANCE = {"f16": 2.0**-9, "f32": 2.0**-11, "f64": 2.0**-48}
"""Error that a result of a type may have, over the sum of the sizes of what was added."""


def disagreements(kernel: FormKernel, memory: Memory, result: np.ndarray) -> int:
    """Elements of a result that are not numpy's product.

    Integers must be equal, floats within `TOLERANCE`; where numpy has infinities or NaNs
    nothing is compared.

    Args:
        kernel: the kernel, which multiplies.
        memory: of the operands, (CTAs, bytes).
        result: (CTAs, bytes).
    """
    product = kernel.product
    assert product
    arguments = {argument.name: argument for argument in kernel.arguments}
    given = {
        name: _matrix(arguments[name], product.operand(name), bytes_)
        for name, bytes_ in memory.items()
        if not arguments[name].written
    }
    found = _matrix(arguments["d"], product.operand("d"), result)
    a, b, c = _factors(product, given, kernel.selectors)
    if not product.operand("a").type.is_float:
        return int((found != _integers(product, a, b, c)).sum())
    with np.errstate(all="ignore"):
        want, size = a @ b + c, np.abs(a) @ np.abs(b) + np.abs(c)
        limit = TOLERANCE[product.operand("d").type.name] * size
        wrong = np.isfinite(want) & np.isfinite(found) & (np.abs(found - want) > limit)
    return int(wrong.sum())


def _matrix(argument: Any, operand: Operand, memory: np.ndarray) -> np.ndarray:
    """Numbers, (CTAs, …, rows, cols), in float64 or int64."""
    lines = memory.reshape(len(memory), *argument.shape[:-1], -1)
    padded = operand.container == 8 and operand.type.bits < 8
    name = "u4" if operand.type.name == "b4" else operand.type
    with np.errstate(invalid="ignore"):
        numbers = unpack(lines, name, "f8f6f4" if padded else "packed")
        numbers = numbers.astype(np.float64 if operand.type.is_float else np.int64)
    if operand.name in ("e", "sfa", "sfb"):
        return numbers
    across = operand.rows if argument.transposed else operand.cols
    numbers = numbers[..., :across]
    return np.swapaxes(numbers, -1, -2) if argument.transposed else numbers


def _factors(
    product: Mma | WmmaMma, given: Mapping[str, np.ndarray], chosen: Mapping[str, int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, dense and scaled, B, scaled, and C."""
    a, b, c = (given[name] for name in "abc")
    if not isinstance(product, Mma):
        return a, b, c
    k = product.shape.k
    if product.sparsity:
        width = product.operand("e").cols
        first = chosen["selector"] * width
        a = expand(product, a, given["e"][..., first : first + width].astype(np.uint8))
    if product.scaling:
        chunks = product.scaling.chunks
        row, col = chosen["thread_id_a"] * product.shape.m, chosen["byte_id_a"]
        scale = given["sfa"][:, row : row + product.shape.m, col : col + chunks]
        a = a * scale.repeat(k // chunks, axis=2)
        row, col = chosen["byte_id_b"], chosen["thread_id_b"] * product.shape.n
        scale = given["sfb"][:, row : row + chunks, col : col + product.shape.n]
        b = b * scale.repeat(k // chunks, axis=1)
    return a, b, c


def _integers(product: Mma | WmmaMma, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Sums as s32; float64 products are exact, and faster than numpy's of integers."""
    total = (a.astype(np.float64) @ b.astype(np.float64)).astype(np.int64)
    if product.bit_op == "xor":
        total = a.sum(axis=-1)[..., None] + b.sum(axis=-2)[..., None, :] - 2 * total
    total = total + c
    if product.satfinite:
        limits = np.iinfo(np.int32)
        return total.clip(limits.min, limits.max)
    return total.astype(np.int32)
