"""The random cases find each fault that was mended: with the mend taken out, one of them fails.

Slow, since each mend is taken out in turn: `pytest -m slow test/unit/lang/test_generators.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.backend import llvm_22
from tilec.isa import host_memory
from tilec.lang import (
    arithmetic,
    bounds,
    casts,
    comparisons,
    conditions,
    division,
    elementwise,
    memory,
    reductions,
    shifts,
)
from tilec.passes import lower_math

MOST = 60
"""Kernels until the fault must have been found."""


Define = Callable[[str], Any]


def expressions(module: ModuleType, define: Define) -> Iterator[bool]:
    """Whether each kernel of expressions is right."""
    for seed in range(MOST):
        batch, inputs = module.Batch(seed, 16), module.inputs(seed)
        out = np.zeros((16, module.LANES), np.int64)
        define(batch.text)[1](out, *batch.arguments(inputs))
        yield np.array_equal(out, batch.expected(inputs))


def accesses(module: ModuleType, define: Define) -> Iterator[bool]:
    """Whether each kernel of loads and stores is right."""
    for seed in range(MOST):
        program = module.Accesses(seed, 16)
        out = np.zeros((16, module.WIDTH), np.int64)
        define(program.text)[1](out, *program.arguments)
        stored = (np.array_equal(module.held(m), module.as_bits(v)) for m, v in program.stored)
        yield np.array_equal(out, program.rows) and all(stored)


def overlaps(module: ModuleType, define: Define) -> Iterator[bool]:
    """Whether each kernel on views of one memory is right."""
    for seed in range(MOST):
        program = module.Overlaps(seed)
        define(program.text)[1](*program.views)
        yield np.array_equal(program.base, program.expected)


def found(run: Callable[..., Iterator[bool]], module: ModuleType, define: Define) -> bool:
    """Whether one of the kernels is wrong, or refused."""
    try:
        return not all(run(module, define))
    except tilec.TilecError:
        return True


def logical_shift(one: tl.Tile, count: tl.Tile) -> tl.Tile:
    """Of `int` as of what has no sign."""
    op = "arith.shrui" if one.dtype.kind != "int" else "arith.shrsi"
    return elementwise.apply(op, one, elementwise.where(count < 64, count, 0))


def truth_of_both(word: str, first: tl.Tile, second: Any) -> tl.Tile:
    """`and` and `or` as truth values."""
    one, other = first.astype(tl.bool_), second
    other = other.astype(tl.bool_) if isinstance(other, tl.Tile) else bool(other)
    return one & other if word == "and" else one | other


def truncating(left: tl.Tile, right: tl.Tile) -> Any:
    """An `int` takes the type of the tile beside it."""
    if tl.intp in (left.dtype, right.dtype) and (left.shape or right.shape):
        return right.dtype if left.dtype is tl.intp else left.dtype
    return COMMON(left, right)


COMMON = casts.common
Patch = tuple[Any, str, Any]
MENDS: dict[str, tuple[Callable[..., Iterator[bool]], list[Patch]]] = {
    "division by zero, unsigned": (expressions, [(division, "_positive", lambda d: d)]),
    "division by zero or -1": (expressions, [(division, "_signed_divisor", lambda d: (d, None))]),
    "shifts by the width": (expressions, [(shifts, "_is_within", lambda _: True)]),
    "shifts of 64 bits": (expressions, [(llvm_22, "REWRITES", llvm_22.REWRITES[:-1])]),
    "shifts of int": (
        expressions,
        [(arithmetic, "_DEFINED", {**arithmetic._DEFINED, "right_shift": logical_shift})],
    ),
    "and, or": (expressions, [(conditions, "_operand", truth_of_both)]),
    "int beside a tile": (expressions, [(casts, "common", truncating)]),
    "int compared with a tile": (
        expressions,
        [(comparisons, "_clamp", lambda number, _: number)],
    ),
    "narrow sums": (expressions, [(reductions, "of_sum", lambda dtype: dtype)]),
    "floats to integers": (
        expressions,
        [(lower_math, "LOOKED_FOR", tuple(n for n in lower_math.LOOKED_FOR if "fpto" not in n))],
    ),
    "fill at a leading index": (accesses, [(bounds, "_is_inside", lambda *_: True)]),
    "fill of -0.0": (accesses, [(memory, "_is_zero", lambda fill: fill == 0)]),
    "odd places of 4 bits": (accesses, [(memory, "is_whole_bytes", lambda *_: True)]),
    "overlapping views": (
        overlaps,
        [(host_memory, "overlapping", lambda regions: [[n] for n in range(len(regions))])],
    ),
}


@pytest.mark.parametrize("mend", MENDS)
@pytest.mark.slow
def test_what_is_taken_out_is_found(
    mend: str,
    random_values: ModuleType,
    random_accesses: ModuleType,
    define: Define,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run, patches = MENDS[mend]
    for owner, attribute, value in patches:
        monkeypatch.setattr(owner, attribute, value)
    assert found(run, random_values if run is expressions else random_accesses, define)
