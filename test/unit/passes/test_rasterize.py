"""Renumbered CTAs: each place of the grid has one, in the order that Triton's tutorial gives."""

from __future__ import annotations

import numpy as np
import pytest
import tilec

PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%order: memref<?x?xi32>) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>, tile.rasterize = {rows} : i64}} {{
    %x = gpu.block_id x
    %y = gpu.block_id y
    %nx = nvvm.read.ptx.sreg.nctaid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %row = arith.muli %by, %nx : i32
    %number = arith.addi %row, %bx : i32
    memref.store %number, %order[%y, %x] : memref<?x?xi32>
    gpu.return
  }}
}}
"""


def order(across: int, down: int, rows: int) -> np.ndarray:
    """The number of the CTA at each place, by the formula of Triton's matrix multiplication."""
    found = np.full((down, across), -1, np.int32)
    for number in range(across * down):
        group = number // (rows * across)
        height = min(down - group * rows, rows)
        y = group * rows + number % (rows * across) % height
        found[y, number % (rows * across) // height] = number
    return found


@pytest.mark.parametrize("rows", [1, 2, 3, 8])
@pytest.mark.parametrize(("across", "down"), [(1, 1), (5, 7), (4, 8), (3, 1), (1, 9)])
def test_order(across: int, down: int, rows: int) -> None:
    got = np.full((down, across), -1, np.int32)
    compiled = tilec.compile(PROGRAM.format(rows=rows))
    compiled.launch(got, grid=(across, down), device="sim")
    np.testing.assert_array_equal(got, order(across, down, rows))
