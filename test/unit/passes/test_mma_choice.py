"""The instruction and the grid of warps chosen for a product, against what is known of hardware.

The forms are those that each generation executes natively with the longest K (NVIDIA's tuning
guides; what ptxas makes of the others is in `tilec.isa.sass`). Grids are found by counting, for
every grid, what the warps read.
"""

from __future__ import annotations

import re

import pytest
import tilec
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tilec.dialects.tile.tiles import plain_tile
from tilec.frontend.contexts import new_context
from tilec.frontend.parsing import parse
from tilec.ir.mlir import ir
from tilec.isa import target
from tilec.passes.layouts.mma_choice import TileProduct, best_choice, candidates, grids
from tilec.passes.pipeline import run_pipeline
from tilec.report.diagnostics import SOURCE, Source
from tilec.report.printing import to_text

NATIVE = [
    # target, elements of A, B and C, and the form
    ("sm_75", "f16 f16 f32", "m16n8k8.row.col.f32.f16.f16.f32"),
    ("sm_75", "i8 i8 i32", "m8n8k16.row.col.s32.s8.s8.s32"),
    ("sm_75", "i4 i4 i32", "m8n8k32.row.col.s32.s4.s4.s32"),
    ("sm_80", "f16 f16 f32", "m16n8k16.row.col.f32.f16.f16.f32"),
    ("sm_80", "f16 f16 f16", "m16n8k16.row.col.f16.f16.f16.f16"),
    ("sm_80", "bf16 bf16 f32", "m16n8k16.row.col.f32.bf16.bf16.f32"),
    ("sm_80", "tf32 tf32 f32", "m16n8k8.row.col.f32.tf32.tf32.f32"),
    ("sm_80", "f64 f64 f64", "m8n8k4.row.col.f64.f64.f64.f64.rn"),
    ("sm_80", "i8 i8 i32", "m16n8k32.row.col.s32.s8.s8.s32"),
    ("sm_80", "i4 i4 i32", "m16n8k64.row.col.s32.s4.s4.s32"),
    ("sm_89", "f8E4M3FN f8E5M2 f32", "m16n8k32.row.col.f32.e4m3.e5m2.f32"),
    ("sm_90", "f64 f64 f64", "m16n8k16.row.col.f64.f64.f64.f64.rn"),
    ("sm_100", "f64 f64 f64", "m8n8k4.row.col.f64.f64.f64.f64.rn"),
    ("sm_120", "f8E4M3FN f8E4M3FN f32", "m16n8k32.row.col.f32.e4m3.e4m3.f32"),
]


def program(chip: str, elements: str, shape: tuple[int, int, int], warps: int, unit: str) -> str:
    """A kernel that is one product."""
    (m, n, k), (a, b, c) = shape, elements.split()
    types = f"tensor<{m}x{k}x{a}>", f"tensor<{k}x{n}x{b}>", f"tensor<{m}x{n}x{c}>"
    return f"""
gpu.module @m [#nvvm.target<chip = "{chip}">] {{
  gpu.func @k(%x: {a}, %y: {b}, %z: {c})
      kernel attributes {{known_block_size = array<i32: {32 * warps}, 1, 1>}} {{
    %ta = "tile.fill"(%x) : ({a}) -> {types[0]}
    %tb = "tile.fill"(%y) : ({b}) -> {types[1]}
    %tc = "tile.fill"(%z) : ({c}) -> {types[2]}
    %d = "tile.dot"(%ta, %tb, %tc) {unit} : ({", ".join(types)}) -> {types[2]}
    gpu.return
  }}
}}
"""


def chosen(
    chip: str, elements: str, shape: tuple[int, int, int], warps: int = 4, unit: str = ""
) -> tuple[str, tuple[int, int]]:
    """Form and grid that the pass writes down."""
    text = program(chip, elements, shape, warps, unit)
    module = parse(Source(SOURCE, text), new_context())
    run_pipeline(module, "tile-select-mma")
    found = re.search(r'form = "mma.sync.aligned.(.*?)".*array<i64: (\d+), (\d+)>', to_text(module))
    assert found
    return found[1], (int(found[2]), int(found[3]))


@pytest.mark.parametrize(("chip", "elements", "form"), NATIVE)
def test_the_native_form_of_the_longest_k(chip, elements, form) -> None:
    assert chosen(chip, elements, (64, 64, 128))[0] == form


def test_unsigned_operands() -> None:
    form, _ = chosen("sm_80", "i8 i8 i32", (64, 64, 64), unit="{unsigned_a}")
    assert form == "m16n8k32.row.col.s32.u8.s8.s32"


def test_a_shorter_k_or_fewer_rows_where_the_tile_is_small() -> None:
    assert chosen("sm_80", "f16 f16 f32", (64, 64, 8))[0].startswith("m16n8k8.")
    assert chosen("sm_80", "i8 i8 i32", (8, 64, 64))[0].startswith("m8n8k16.")


@settings(max_examples=40, derandomize=True)
@given(*[st.integers(4, 8)] * 2, st.integers(0, 3))
def test_grids_that_read_least(m, n, warps) -> None:
    """No grid without idle warps has its warps read fewer elements of A and B."""
    rows, cols, count = 1 << m, 1 << n, 1 << warps
    assume(rows * cols <= 128 * 32 * count)  # f32 in registers
    _, (along_m, along_n) = chosen("sm_80", "f16 f16 f32", (rows, cols, 16), count)
    assert along_m * along_n == count

    def read(one: int, other: int) -> int:
        return max(rows // one, 16) + max(cols // other, 8)

    whole = [
        (one, count // one)
        for one in (1 << bit for bit in range(warps + 1))
        if rows // one >= 16 and cols // (count // one) >= 8
    ]
    if whole:
        assert read(along_m, along_n) == min(read(*grid) for grid in whole)


def test_candidates_are_sorted() -> None:
    """Each is at least as cheap as the next on the best grid of it."""
    module = parse(
        Source(SOURCE, program("sm_80", "f16 f16 f32", (64, 64, 64), 4, "")), new_context()
    )
    with module.context:
        tiles = {
            name: plain_tile(ir.Type.parse(f"tensor<64x64x{element}>"))
            for name, element in zip("abcd", ("f16", "f16", "f32", "f32"), strict=True)
        }
        product = TileProduct("tile.dot", tiles, (False, False))
        found = candidates(product, target("sm_80"))
        costs = [best_choice(form, 4, product, target("sm_80")).cost for form in found]
    assert costs == sorted(costs)
    assert list(grids(4)) == [(4, 1), (2, 2), (1, 4)]


def test_remarks_name_the_alternatives() -> None:
    compiled = tilec.compile(program("sm_80", "f16 f16 f32", (64, 64, 64), 4, ""))
    _ = compiled.ptx
    (found,) = [d.message for d in compiled.remarks if "becomes" in d.message]
    assert "32 mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 for each of 2x2 warps" in found
    assert "m16n8k8 2x2" in found
    assert "m16n8k16 4x1" in found
