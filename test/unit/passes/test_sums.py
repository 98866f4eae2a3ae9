"""Reductions where kernels have them: tiles without layouts, in loops, over rows of any length.

Every warp takes part in each sum, so the simulator's check for races also sees the barriers.
"""

import numpy as np
import pytest
import tilec

# Of each row the sum and the largest element; a row is taken in pieces, the last one masked. A CTA
# takes one row, then the one that is as many rows further as there are CTAs.
ROWS = """
!X = memref<?x?xf32>
!P = tensor<{piece}xf32>
!I = tensor<{piece}xi32>
!B = tensor<{piece}xi1>
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @rows(%x: !X, %sums: memref<?xf32>, %tops: memref<?xf32>, %low: f32)
      kernel attributes {{known_block_size = array<i32: {threads}, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %piece = arith.constant {piece} : index
    %none = arith.constant 0.0 : f32
    %rows = memref.dim %x, %c0 : !X
    %length = memref.dim %x, %c1 : !X
    %first = gpu.block_id x
    %ctas = gpu.grid_dim x
    scf.for %row = %first to %rows step %ctas {{
      %sum, %top = scf.for %at = %c0 to %length step %piece
          iter_args(%s = %none, %t = %low) -> (f32, f32) {{
        %v = "tile.load"(%x, %row, %at) {{masked}} : (!X, index, index) -> !P
        %i = "tile.iota"() {{axis = 0}} : () -> !I
        %left = arith.subi %length, %at : index
        %count = arith.index_cast %left : index to i32
        %counts = "tile.fill"(%count) : (i32) -> !I
        %inside = arith.cmpi slt, %i, %counts : !I
        %lows = "tile.fill"(%low) : (f32) -> !P
        %w = arith.select %inside, %v, %lows : !B, !P
        %a = "tile.reduce"(%v) {{axis = 0, fn = "arith.addf"}} : (!P) -> f32
        %b = "tile.reduce"(%w) {{axis = 0, fn = "arith.maximumf"}} : (!P) -> f32
        %s1 = arith.addf %s, %a : f32
        %t1 = arith.maximumf %t, %b : f32
        scf.yield %s1, %t1 : f32, f32
      }}
      %one = "tile.fill"(%sum) : (f32) -> tensor<1xf32>
      %two = "tile.fill"(%top) : (f32) -> tensor<1xf32>
      "tile.store"(%one, %sums, %row) : (tensor<1xf32>, memref<?xf32>, index) -> ()
      "tile.store"(%two, %tops, %row) : (tensor<1xf32>, memref<?xf32>, index) -> ()
    }}
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize(("threads", "piece"), [(32, 64), (128, 128), (128, 1024), (256, 32)])
def test_rows_of_any_length(threads, piece):
    compiled = tilec.compile(ROWS.format(threads=threads, piece=piece))
    random = np.random.default_rng(0)
    for rows, length in ((5, 1), (4, 37), (3, 129), (2, 1031), (3, 0), (0, 7)):
        x = random.integers(-9, 10, (rows, length)).astype(np.float32)
        sums, tops = np.full(rows, np.nan, np.float32), np.full(rows, np.nan, np.float32)
        compiled.launch(x, sums, tops, np.float32(-100), grid=2)
        np.testing.assert_array_equal(sums, x.sum(axis=1))
        np.testing.assert_array_equal(tops, x.max(axis=1, initial=-100))


# Columns of a tile normalised, the result transposed: views and reductions of both dimensions.
COLUMNS = """
!T = tensor<32x64xf32>
!U = tensor<64x32xf32>
!M = memref<32x64xf32>
!N = memref<64x32xf32>
gpu.module @m [#nvvm.target<chip = "{target}">] {{
  gpu.func @columns(%x: !M, %y: !N, %z: memref<2048xf32>)
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %c0 = arith.constant 0 : index
    %v = "tile.load"(%x, %c0, %c0) : (!M, index, index) -> !T
    %m = "tile.reduce"(%v) {{axis = 0, fn = "arith.minimumf"}} : (!T) -> tensor<64xf32>
    %e = "tile.expand"(%m) {{axis = 0}} : (tensor<64xf32>) -> tensor<1x64xf32>
    %b = "tile.broadcast"(%e) : (tensor<1x64xf32>) -> !T
    %d = arith.subf %v, %b : !T
    %t = "tile.transpose"(%d) {{permutation = array<i64: 1, 0>}} : (!T) -> !U
    "tile.store"(%t, %y, %c0, %c0) : (!U, !N, index, index) -> ()
    %r = "tile.reduce"(%t) {{axis = 1, fn = "arith.addf"}} : (!U) -> tensor<64xf32>
    %f = "tile.expand"(%r) {{axis = 1}} : (tensor<64xf32>) -> tensor<64x1xf32>
    %g = "tile.broadcast"(%f) : (tensor<64x1xf32>) -> !U
    %h = arith.mulf %t, %g : !U
    %flat = "tile.reshape"(%h) : (!U) -> tensor<2048xf32>
    "tile.store"(%flat, %z, %c0) : (tensor<2048xf32>, memref<2048xf32>, index) -> ()
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("target", ["sm_75", "sm_90"])
def test_columns(target):
    x = np.random.default_rng(1).integers(-9, 10, (32, 64)).astype(np.float32)
    y, z = np.zeros((64, 32), np.float32), np.zeros(2048, np.float32)
    tilec.compile(COLUMNS.format(target=target)).launch(x, y, z, grid=1)
    turned = (x - x.min(axis=0)).T
    np.testing.assert_array_equal(y, turned)
    np.testing.assert_array_equal(z, (turned * turned.sum(axis=1, keepdims=True)).ravel())
