"""Products of tiles whose operands are loaded from global memory, compiled and simulated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import form as find_form
from tilec.layout.tiling import operand_tile

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
ALIGNED = "{tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>}"

PROGRAM = """
!A = tensor<{m}x{k}x{a}, #tile.layout<"{layout_a}">>
!B = tensor<{k}x{n}x{b}, #tile.layout<"{layout_b}">>
!C = tensor<{m}x{n}x{c}, #tile.layout<"{layout_c}">>
!GA = memref<?x?x{memory_a}, strided<[?, 1]>>
!GB = memref<?x?x{memory_b}, strided<[?, 1]>>
!GC = memref<?x?x{c}, strided<[?, 1]>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @gemm(%a: !GA {promised}, %b: !GB {promised}, %c: !GC, %depth: index)
      kernel attributes {{tile.automatic, known_block_size = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %ck = arith.constant {k} : index
    %cm = arith.constant {m} : index
    %cn = arith.constant {n} : index
    %x = gpu.block_id x
    %y = gpu.block_id y
    %col = arith.muli %x, %cn : index
    %row = arith.muli %y, %cm : index
    %zero = arith.constant dense<{zero}> : !C
    %r = scf.for %k = %c0 to %depth step %ck iter_args(%acc = %zero) -> (!C) {{
      %ta = "tile.load"(%a, {at_a}) {{masked{transposed_a}}} : (!GA, index, index) -> !A
      %tb = "tile.load"(%b, {at_b}) {{masked{transposed_b}}} : (!GB, index, index) -> !B
      %s = "tile.dot"(%ta, %tb, %acc) {{form = "{form}"}} : (!A, !B, !C) -> !C
      scf.yield %s : !C
    }} {loop}
    "tile.store"(%r, %c, %row, %col) {{masked}} : (!C, !GC, index, index) -> ()
    gpu.return
  }}
}}
"""


def program(
    *,
    form: str = F16,
    tile: tuple[int, int, int] = (64, 64, 32),
    warps: tuple[int, int] = (2, 2),
    elements: tuple[str, str, str] = ("f16", "f16", "f32"),
    memory: tuple[str, str] | None = None,
    transposed: str = "",
    promised: str = ALIGNED,
    **loop: int,
) -> str:
    """C = A·B on tiles that lie in their operands' layouts, accesses masked.

    Args:
        form: the instruction.
        tile: of a CTA, M, N and K.
        warps: along M and along N.
        elements: MLIR's of A, B and C.
        memory: those of A and B in memory, if other.
        transposed: which of `ab` memory holds transposed.
        promised: attributes of the arguments A and B.
        loop: what the loop says: `stages`, `unroll`.
    """
    m, n, k = tile
    found = find_form(form)
    layouts = {
        name: operand_tile(found, name, *shape, warps)
        for name, shape in (("a", (m, k)), ("b", (k, n)), ("c", (m, n)))
    }
    stored = memory or elements[:2]
    return PROGRAM.format(
        **dict(zip("mnk", tile, strict=True)),
        **dict(zip("abc", elements, strict=True)),
        **{f"layout_{name}": layout for name, layout in layouts.items()},
        memory_a=stored[0],
        memory_b=stored[1],
        promised=promised,
        threads=32 * warps[0] * warps[1],
        zero="0.0" if elements[2].startswith("f") else "0",
        at_a="%k, %row" if "a" in transposed else "%row, %k",
        at_b="%col, %k" if "b" in transposed else "%k, %col",
        transposed_a=", transposed" if "a" in transposed else "",
        transposed_b=", transposed" if "b" in transposed else "",
        form=form,
        loop=f"{{{', '.join(f'tile.{name} = {n} : i64' for name, n in loop.items())}}}",
    )


@cache
def compiled(text: str, target: str) -> Any:
    """A program, compiled once."""
    return tilec.compile(text, target=target)


def run(
    text: str,
    kernel: str,
    grid: Sequence[int],
    values: Sequence[Any],
    *,
    target: str = "sm_80",
) -> Any:
    """Run a kernel; the simulator finds no race, no access out of bounds, nothing not yet there."""
    return compiled(text, target).launch(*values, grid=grid, kernel=kernel, device="sim")


def padded(rng: Any, rows: int, cols: int, dtype: Any, pitch: int = 8) -> Any:
    """Small whole numbers in a matrix whose row stride is a multiple of `pitch`."""
    width = -(-max(cols, 1) // pitch) * pitch
    whole = rng.integers(-4, 5, (max(rows, 1), width)).astype(dtype)
    return whole[:rows, :cols]


@pytest.fixture(name="program")
def _program() -> Callable[..., str]:
    return program


@pytest.fixture(name="run")
def _run() -> Callable[..., Any]:
    return run


@pytest.fixture(name="compiled")
def _compiled() -> Callable[[str, str], Any]:
    return compiled


@pytest.fixture(name="padded")
def _padded() -> Callable[..., Any]:
    return padded


@pytest.fixture
def rng() -> Any:
    """Random numbers, the same in each run."""
    return np.random.default_rng(20261121)
