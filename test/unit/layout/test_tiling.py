"""A CTA's tiles: operands over a grid of warps, rows over threads, and layouts as index arrays.

Every element is where counting says, for each warp; arrays gather and scatter as the layout does.
"""

from __future__ import annotations

import numpy as np
import pytest
from tilec.isa import form
from tilec.layout import LayoutError, fragment
from tilec.layout.index_arrays import index_arrays
from tilec.layout.tiling import operand_tile, row_tile

HALF = form("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")


@pytest.mark.parametrize("warps", [(1, 1), (2, 1), (1, 4), (2, 2)])
@pytest.mark.parametrize(("name", "rows", "cols"), [("a", 64, 32), ("b", 32, 64), ("c", 64, 64)])
def test_operands_over_warps(name, rows, cols, warps):
    """Warp w is at (w mod M, w div M) of the grid, and its block is contiguous."""
    layout = operand_tile(HALF, name, rows, cols, warps)
    along_m, along_n = warps
    assert layout.is_surjective
    assert layout.in_sizes["warp"] == along_m * along_n
    height = rows // (1 if name == "b" else along_m)
    width = cols // (1 if name == "a" else along_n)
    register, lane = np.meshgrid(
        np.arange(layout.in_sizes["register"]), np.arange(32), indexing="ij"
    )
    for warp in range(along_m * along_n):
        row, col = layout(register=register, lane=lane, warp=warp)
        m, n = warp % along_m, warp // along_m
        first = (0 if name == "b" else m * height, 0 if name == "a" else n * width)
        held = set(zip(row.ravel().tolist(), col.ravel().tolist(), strict=True))
        block = np.mgrid[first[0] : first[0] + height, first[1] : first[1] + width].reshape(2, -1)
        assert held == set(map(tuple, block.T.tolist()))
        unit = fragment(HALF, name)
        for step in range(layout.in_sizes["register"] // unit.in_sizes["register"]):
            inside = unit(register=register[: unit.in_sizes["register"]], lane=lane[0])
            base = layout(register=step * unit.in_sizes["register"], lane=0, warp=warp)
            start = step * unit.in_sizes["register"]
            got = layout(
                register=start + register[: unit.in_sizes["register"]], lane=lane[0], warp=warp
            )
            for g, b, i in zip(got, base, inside, strict=True):
                assert (g == b + i).all()


def test_copies_where_warps_find_no_rows_or_columns():
    """32x8 of C for 4x2 warps: two rows of fragments, held twice by M and twice by N."""
    layout = operand_tile(HALF, "c", 32, 8, (4, 2))
    assert layout.bases["warp"] == [(16, 0), (0, 0), (0, 0)]
    assert layout.is_surjective


@pytest.mark.parametrize(
    ("rows", "cols", "vector", "warps"), [(64, 64, 8, 4), (16, 256, 4, 2), (8, 8, 8, 2)]
)
def test_rows_over_threads(rows, cols, vector, warps):
    """Thread t takes vector t, t + threads, …, counted along the rows."""
    layout = row_tile(rows, cols, vector, warps)
    threads = 32 * warps
    for register in range(layout.in_sizes["register"]):
        turn, element = divmod(register, vector)
        for thread in range(threads):
            number = turn * threads + thread
            if threads <= rows * cols // vector:
                place = divmod(number * vector + element, cols)
            else:  # more threads than vectors: held again
                place = divmod(number % (rows * cols // vector) * vector + element, cols)
            assert layout(register=register, lane=thread % 32, warp=thread // 32) == place


def test_refusals():
    with pytest.raises(LayoutError, match="8 rows of operand a are not a multiple of 16"):
        operand_tile(HALF, "a", 8, 32, (2, 1))
    with pytest.raises(
        LayoutError, match="24 rows of operand c, in units of 8, are not a multiple"
    ):
        operand_tile(HALF, "c", 24, 64, (1, 1))
    with pytest.raises(LayoutError, match="does not tile"):
        operand_tile(HALF, "e", 16, 32, (1, 1))
    with pytest.raises(LayoutError, match="longer than a row"):
        row_tile(8, 4, 8, 1)


def test_units_have_one_layout():
    """48 rows are three of 16, 80 columns five of 16."""
    assert operand_tile(HALF, "c", 48, 80, (1, 1)) == operand_tile(HALF, "c", 16, 16, (1, 1))


@pytest.mark.parametrize("arguments", [("m16n8k16", "a", "f16"), ("m16n8k32", "b", "s8")])
def test_index_arrays(arguments):
    layout = fragment(*arguments)
    packed = {"f16": 2, "s8": 4}[arguments[2]]
    found = index_arrays(layout, packed)
    registers = layout.in_sizes["register"] // packed
    shape = tuple(layout.out_sizes.values())
    matrix = np.arange(np.prod(shape)).reshape(shape)
    held = matrix.ravel()[found.registers].reshape(registers, 32, packed)
    for lane in range(32):
        for i in range(registers * packed):
            place = layout(register=i, lane=lane)
            assert held[i // packed, lane, i % packed] == matrix[place]
    assert (held.ravel()[found.matrix] == matrix).all()
