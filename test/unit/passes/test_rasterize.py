"""Renumbered CTAs: each place of the grid has one, in the order that Triton's tutorial gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
import tilec
from tilec.passes.analysis.costs import read_along_curve
from tilec.sim.ptx import read
from tilec.tuning.counting import count, plain_launch

PROGRAM = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%order: memref<?x?xi32>) kernel
      attributes {{known_block_size = array<i32: 1, 1, 1>, tile.rasterize = {order}}} {{
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
    compiled = tilec.compile(PROGRAM.format(order=f"{rows} : i64"))
    compiled.launch(got, grid=(across, down), device="sim")
    np.testing.assert_array_equal(got, order(across, down, rows))


Point = tuple[int, int]


def curve(levels: int, corner: Point, along: Point, aside: Point) -> Iterator[Point]:
    """Hilbert's curve through a square, by its definition: four smaller ones, one after the other.

    Args:
        levels: the square has 2^levels points a side.
        corner: where the curve begins.
        along: the unit step from there to where it ends.
        aside: the other unit step into the square.
    """
    if not levels:
        yield corner
        return
    half = 1 << levels - 1

    def at(steps: int, others: int) -> Point:
        (x, y), (ax, ay), (bx, by) = corner, along, aside
        return x + steps * ax + others * bx, y + steps * ay + others * by

    back, up = (-along[0], -along[1]), (-aside[0], -aside[1])
    yield from curve(levels - 1, corner, aside, along)
    yield from curve(levels - 1, at(0, half), along, aside)
    yield from curve(levels - 1, at(half, half), along, aside)
    yield from curve(levels - 1, at(2 * half - 1, half - 1), up, back)


def walk(across: int, down: int) -> Iterator[Point]:
    """Blocks of 16x16 in strips, to the right and to the left in turn; the rest up and down."""
    for strip, top in enumerate(range(0, down, 16)):
        height = min(16, down - top)
        for left in range(0, across, 16):
            width = min(16, across - left)
            places = list(curve(4, (0, 0), (1, 0), (0, 1)))
            if width * height < 256:
                columns = [[(x, y) for y in range(height)] for x in range(width)]
                turned = [column[::-1] if n % 2 else column for n, column in enumerate(columns)]
                places = [place for column in turned for place in column]
            for x, y in places:
                yield (across - 1 - left - x if strip % 2 else left + x), top + y


@pytest.mark.parametrize(
    ("across", "down"), [(1, 1), (16, 16), (5, 7), (33, 35), (17, 48), (1, 20), (40, 3)]
)
def test_curves(across: int, down: int) -> None:
    got = np.full((down, across), -1, np.int32)
    compiled = tilec.compile(PROGRAM.format(order='"hilbert"'))
    compiled.launch(got, grid=(across, down), device="sim")
    wanted = np.full((down, across), -1, np.int32)
    for number, (x, y) in enumerate(walk(across, down)):
        wanted[y, x] = number
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("count", [16, 66, 132])
def test_what_tiles_on_a_curve_read(count: int) -> None:
    """The cost model's mean of rows and columns, counted."""
    places = list(walk(64, 64))
    runs = [places[at : at + count] for at in range(len(places) - count)]
    spans = [sum(len(set(axis)) for axis in zip(*run, strict=True)) for run in runs]
    assert read_along_curve(1, 1, count) == pytest.approx(np.mean(spans), rel=0.02)


READERS = """
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: memref<?x32xf32>, %b: memref<?x32xf32>, %c: memref<?x32xf32>) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>, tile.rasterize = {order}}} {{
    %x = gpu.block_id x
    %y = gpu.block_id y
    %t = gpu.thread_id x
    %of_a = memref.load %a[%y, %t] : memref<?x32xf32>
    %of_b = memref.load %b[%x, %t] : memref<?x32xf32>
    %sum = arith.addf %of_a, %of_b : f32
    memref.store %sum, %c[%x, %t] : memref<?x32xf32>
    gpu.return
  }}
}}
"""


def by_rows(across: int, down: int) -> Iterator[Point]:
    """All places, a row at a time."""
    for number in range(across * down):
        yield number % across, number // across


@pytest.mark.parametrize(("across", "down", "at_once"), [(32, 32, 108), (40, 35, 66), (17, 48, 20)])
@pytest.mark.parametrize(("how", "places"), [('"hilbert"', walk), ("1 : i64", by_rows)])
def test_what_the_tuner_counts_of_a_wave(
    how: str,
    places: Callable[[int, int], Iterator[Point]],
    across: int,
    down: int,
    at_once: int,
) -> None:
    """The bytes that CTAs of a wave read together, by the rows and columns that they lie in."""
    compiled = tilec.compile(READERS.format(order=how))
    (entry,) = compiled.kernels
    arrays = [np.zeros((n, 32), np.float32) for n in (down, across, across)]
    module = read(compiled.ptx)
    launch = plain_launch(entry, module.functions["k"], arrays, (across, down, 1), at_once)
    found = count(module, "k", launch, at_once)
    first = list(places(across, down))[:at_once]
    cols, rows = (len(set(axis)) for axis in zip(*first, strict=True))
    each = 32 * 4 * across * down  # bytes of an array that all CTAs read, or write
    assert found.distinct == pytest.approx(each * ((rows + cols) / at_once + 1))


def test_neither_number_nor_name() -> None:
    with pytest.raises(tilec.TilecError, match='must be a positive integer or "hilbert", not "z"'):
        tilec.compile(PROGRAM.format(order='"z"'))
