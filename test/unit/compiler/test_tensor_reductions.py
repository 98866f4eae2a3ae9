"""Loads from tensor memory that reduce rows: compiled, assembled, simulated, interpreted."""

# ruff: noqa: E501 (programs have long lines)

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.interpret import arithmetic_of, interpret
from tilec.isa import TilecError, target
from tilec.report.diagnostics import Source

from ..interpret.arrays import contents, kernel_of, views

WIDTH = 8
LANES = "lane [1,0] [2,0] [4,0] [8,0] [16,0] -> row 32, col"


def program(reduction: str, element: str, shape: str = "32x32b") -> str:
    """Each warp stores 32 rows, and loads them with the one value that is left of each row."""
    return f"""
!M = memref<?x?x{element}, strided<[?, 1]>>
!D = memref<128x{WIDTH}x{element}, #tile.tensor<"d">>
!X = !tile.frag<tensor<32x{WIDTH}x{element}>, #tile.layout<"register [0,1] [0,2] [0,4]; {LANES} {WIDTH}">>
!R = !tile.frag<tensor<32x1x{element}>, #tile.layout<"register; {LANES} 1">>
gpu.module @m {{
  gpu.func @k(%from: !M, %to: !M, %rows: !M) kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %d = tile.alloc_tensor : !D
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %row = arith.muli %warp, %c32 : index
    %x = tile.load %from[%row, %c0] : !M -> !X
    tile.tcgen05_st %x, %d[%row, %c0] {{form = "tcgen05.st.sync.aligned.32x32b.x{WIDTH}.b32"}} : !X, !D
    tile.tcgen05_wait_st
    %y, %r = tile.tcgen05_ld_red %d[%row, %c0] {{form = "tcgen05.ld.red.sync.aligned.{shape}.x{WIDTH}.{reduction}"}} : !D -> !X, !R
    %all = tile.tcgen05_wait_ld %y : !X
    %left = tile.tcgen05_wait_ld %r : !R
    tile.store %all, %to[%row, %c0] : !X, !M
    tile.store %left, %rows[%row, %c0] : !R, !M
    gpu.return
  }}
}}
"""


def values(element: str) -> Any:
    """Of both signs; among floats rows with some NaNs, and one with nothing else."""
    random = np.random.default_rng(3)
    if element == "i32":
        return random.integers(-(2**31), 2**31, (128, WIDTH), np.int64).astype(np.int32)
    found = random.integers(-99, 99, (128, WIDTH)).astype(np.float32)
    found[5, 2] = found[40, :3] = found[77] = np.nan
    return found


def expected(found: Any, reduction: str) -> Any:
    """By numpy: `fmin` and `fmax` take a number before a NaN, `min` and `max` give it on."""
    operation, *words, type_ = reduction.split(".")
    if type_ == "u32":
        return getattr(found.view(np.uint32), operation)(axis=1).view(np.int32)
    if type_ == "s32":
        return getattr(found, operation)(axis=1)
    given = np.abs(found) if "abs" in words else found
    combine = {"min": (np.fmin, np.minimum), "max": (np.fmax, np.maximum)}[operation][
        "NaN" in words
    ]
    return combine.reduce(given, axis=1)


REDUCTIONS = ["min.f32", "max.f32", "max.abs.f32", "min.NaN.f32", "max.abs.NaN.f32", "min.u32", "max.u32", "min.s32", "max.s32"]  # fmt: skip
DRAWN = ("max.abs.f32", "min.NaN.f32", "min.u32", "max.s32")


@pytest.mark.parametrize(
    "reduction", [pytest.param(r, marks=() if r in DRAWN else pytest.mark.slow) for r in REDUCTIONS]
)
def test_rows_are_reduced(reduction: str, assemblers_for: Callable[..., list[Any]]) -> None:
    element = "f32" if reduction.endswith("f32") else "i32"
    text, given = program(reduction, element), values(element)
    compiled = tilec.compile(text, target="sm_103a", cache=False)
    loaded, rows = np.zeros_like(given), np.zeros((128, 1), given.dtype)
    compiled.launch(given, loaded, rows, grid=1, device="sim").require_ok()
    np.testing.assert_array_equal(loaded, given)
    np.testing.assert_array_equal(rows[:, 0], expected(given, reduction))
    for ptxas in assemblers_for(target("sm_103a"))[-1:]:
        status, report = ptxas.run(compiled.ptx, "sm_103a")
        assert (status, report) == (0, "")
    module, arithmetic = parse(Source("-", text), new_context()), arithmetic_of("hardware")
    function = kernel_of(module)
    arrays = views(function, [given, loaded * 0, rows * 0], arithmetic)
    done = interpret(function, arrays, arithmetic, grid=(1, 1, 1), target="sm_103a")
    assert not done.findings
    found = contents(arrays[2], done.memories[2])
    np.testing.assert_array_equal(np.asarray(found)[:, 0], expected(given, reduction))


WRONG = [
    ("32x32b", "!R = ", "!R = !X\n!S = ", "each row is reduced to one element of !tile.frag<tensor<32x1xf32>"),
    ("16x32bx2", "", "", "whether tcgen05.ld.red.sync.aligned.16x32bx2.x8.max.f32 reduces both halves together is not published; legal: 32x32b"),
    ("32x32b", "max.f32", "max.u32", "reduces an accumulator of i32, not memref<128x8xf32"),
    ("32x32b", "max.f32", "add.f32", "nearest legal: tcgen05.ld.red.sync.aligned.32x32b.x8.max.f32"),
    ("32x32b", '"d">>', '"a">>', "reduces an accumulator of f32"),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "old", "new", "says"), WRONG)
def test_misuse(shape: str, old: str, new: str, says: str) -> None:
    text = program("max.f32", "f32", shape).replace(old, new)
    line = 1 + next(n for n, one in enumerate(text.splitlines()) if "tcgen05_ld_red" in one)
    with pytest.raises(TilecError, match=rf"(?m)^p\.mlir:{line}:\d+: error: .*{re.escape(says)}"):
        _ = tilec.compile(text, target="sm_103a", name="p.mlir", cache=False).ptx


def test_refused_where_it_is_not() -> None:
    """sm_100 has loads, and none that reduce."""
    with pytest.raises(
        TilecError,
        match=r"(?m)^p\.mlir:\d+:\d+: error: 'tile.tcgen05_ld_red' op tcgen05.ld.red\S+ does not exist on sm_100a; it needs sm_101a .*sm_103f",
    ):
        _ = tilec.compile(
            program("max.f32", "f32"), target="sm_100a", name="p.mlir", cache=False
        ).ptx
