"""Tiles that leave by TMA in a loop over tiles: what the next tile reads of them has arrived."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tilec

ROWS, COLS, DEPTH, TILES = 128, 64, 128, 4
PROGRAM = """
!Array = memref<?x?xf16, strided<[?, 1]>>
!A = tensor<128x64xf16>
!B = tensor<64x64xf16>
!D = tensor<128x64xf32>
!H = tensor<128x64xf16>

gpu.module @m [#nvvm.target<chip = "sm_90a">] {
  gpu.func @k(%a: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
              %b: !Array {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1>},
              %c: !Array {llvm.noalias, tile.aligned = 16 : i64,
                          tile.sizes = array<i64: 1, 8>, tile.strides = array<i64: 8, 1>},
              %depth: index, %tiles: index)
      kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant dense<0.0> : !D
    scf.for %i = %c0 to %tiles step %c1 {
      %row = arith.muli %i, %c128 : index
      %below = arith.addi %row, %c128 : index
      %r = scf.for %k = %c0 to %depth step %c64 iter_args(%sum = %zero) -> (!D) {
        %ta = tile.load %a[%row, %k] masked : !Array -> !A
        %tb = tile.load %b[%k, %c0] masked : !Array -> !B
        %next = tile.dot %ta, %tb, %sum : !A, !B, !D
        scf.yield %next : !D
      }
      %h = arith.truncf %r : !D to !H
      OLD
      tile.store %s, %c[%below, %c0] masked : !H, !Array
    }
    gpu.return
  }
}
"""
OLD = """%old = tile.load %c[%row, %c0] masked : !Array -> !H
      %s = arith.addf %h, %old : !H"""
NONE = "%s = arith.addf %h, %h : !H"


@pytest.mark.parametrize("reads", [True, False])
def test_next_tile_reads_what_left(reads: bool) -> None:
    """Each tile is added to the one before it in memory, which the round before has stored."""
    compiled = tilec.compile(PROGRAM.replace("OLD", OLD if reads else NONE), target="sm_90a")
    assert "cp.async.bulk.tensor.2d.global.shared::cta" in compiled.ptx
    rng = np.random.default_rng(1)
    a, b, first = (
        rng.integers(-2, 3, shape).astype(np.float16)
        for shape in ((TILES * ROWS, DEPTH), (DEPTH, COLS), (ROWS, COLS))
    )
    c = np.zeros(((TILES + 1) * ROWS, COLS), np.float16)
    c[:ROWS] = first
    compiled.launch(a, b, c, DEPTH, TILES, grid=1, device="sim")
    products = (a.astype(np.float64) @ b.astype(np.float64)).reshape(TILES, ROWS, COLS)
    wanted = [first, *products * (1 if reads else 2)]
    if reads:
        wanted = np.cumsum(wanted, axis=0)
    np.testing.assert_array_equal(c.reshape(TILES + 1, ROWS, COLS), np.stack(wanted))


def test_rows_that_end_within_16_bytes() -> None:
    """TMA would store whole 16 bytes: threads store, and what is beside the rows stays."""
    example = Path(__file__).parents[3] / "examples" / "hopper" / "tiles.mlir"
    known = "tile.sizes = array<i64: 1, 8>, "
    program = example.read_text()
    assert program.count(known) == 1
    compiled = tilec.compile(program.replace(known, ""), target="sm_90a")
    assert "cp.async.bulk.tensor.2d.shared::cluster.global" in compiled.ptx
    assert ".global.shared::cta" not in compiled.ptx
    rng = np.random.default_rng(2)
    m, n, k = 130, 77, 72
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (n, k)))
    whole = np.full((m, 80), 7, np.float16)
    compiled.launch(a, b, whole[:, :n], grid=(1, 2), device="sim")
    np.testing.assert_array_equal(whole[:, :n], a.astype(int) @ b.astype(int).T)
    assert (whole[:, n:] == 7).all()


EXAMPLE = Path(__file__).parents[3] / "examples" / "kernels" / "gemm.mlir"
STRIDES = "tile.strides = array<i64: 4, 1>"


def _wide(program: str) -> str:
    """The example with rows of C that end at multiples of 16 bytes."""
    assert program.count(STRIDES) == 1
    return program.replace(STRIDES, f"tile.sizes = array<i64: 1, 4>, {STRIDES}")


def _whole_numbers(program: str) -> str:
    """The example for products of s8 in s32, B read by columns as its wgmma wants it."""
    for old, new in (
        ("array<i64: 8, 1>", "array<i64: 16, 1>"),
        ("xf16", "xi8"),
        ("xf32", "xi32"),
        ("dense<0.0>", "dense<0>"),
        ("%b[%k, %col] masked", "%b[%col, %k] masked transposed"),
    ):
        assert old in program
        program = program.replace(old, new)
    return program


@pytest.mark.parametrize("whole", [False, True], ids=["f32", "s32"])
def test_sums_of_32_bits(whole: bool) -> None:
    """Sums leave by TMA as they are, ragged, in whole tiles and of no products at all."""
    program = _wide(EXAMPLE.read_text())
    compiled = tilec.compile(_whole_numbers(program) if whole else program, target="sm_90a")
    assert ".bulk_group" in compiled.ptx
    assert "st.global" not in compiled.ptx
    assert "ld.shared" not in compiled.ptx
    rng = np.random.default_rng(3)
    of, to = (np.int8, np.int32) if whole else (np.float16, np.float32)
    for m, n, k in ((130, 136, 80), (128, 128, 64), (130, 136, 0)):
        a, b = (rng.integers(-3, 4, shape).astype(of) for shape in ((m, k), (k, n)))
        held = np.full((m, n + 4), 7, to)  # with what is beside the rows
        second = np.ascontiguousarray(b.T) if whole else b
        found = compiled.launch(
            a, second, held[:, :n], grid=(-(-n // 128), -(-m // 128)), device="sim"
        )
        assert found is not None
        assert not found.findings
        np.testing.assert_array_equal(held[:, :n], a.astype(int) @ b.astype(int))
        assert (held[:, n:] == 7).all()


def test_sums_of_32_bits_whose_rows_end_anywhere() -> None:
    """The example itself promises no length of rows: threads store, and say why."""
    compiled = tilec.compile(EXAMPLE, target="sm_90a")
    assert ".global.shared::cta" not in compiled.ptx
    said = [one.message for one in compiled.remarks if one.decided_by == "tile-store-boxes"]
    assert len(said) == 1
    assert "rows are not known to be multiples of 16 bytes long" in said[0]
    rng = np.random.default_rng(4)
    m, n, k = 130, 77, 72
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((m, k), (k, 80)))
    held = np.full((m, 80), 7, np.float32)
    compiled.launch(a, b[:, :n], held[:, :n], grid=(1, 2), device="sim")
    np.testing.assert_array_equal(held[:, :n], (a.astype(int) @ b.astype(int))[:, :n])
    assert (held[:, n:] == 7).all()
