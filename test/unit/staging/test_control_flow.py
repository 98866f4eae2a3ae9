"""Staging and pipelines in nests of loops, under conditions, for tiles used twice or widened first.

From tiles without layouts down, against numpy; the simulator finds no race.
"""

from __future__ import annotations

import numpy as np
import pytest

KERNEL = """
!A = tensor<64x32xf16>
!B = tensor<32x64xf16>
!W = tensor<32x64xi8>
!C = tensor<64x64xf32>
!GA = memref<?x?xf16, strided<[?, 1]>>
!GW = memref<?x?xi8, strided<[?, 1]>>
!GC = memref<?x?xf32, strided<[?, 1]>>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @kernel(%a: !GA {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1> ALIAS},
                   %b: BTYPE {tile.aligned = 16 : i64, tile.strides = array<i64: 8, 1> ALIAS},
                   %c: !GC, %n: index)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %depth = memref.dim %a, %c1 : !GA
    %zero = arith.constant dense<0.0> : !C
    BODY
    gpu.return
  }
}
"""

NEST = """
    %cols = memref.dim %b, %c1 : !GA
    scf.for %row = %c0 to %n step %c64 {
      scf.for %col = %c0 to %cols step %c64 {
        %r = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (!C) {
          %x = "tile.load"(%a, %row, %k) {masked} : (!GA, index, index) -> !A
          %y = "tile.load"(%b, %k, %col) {masked} : (!GA, index, index) -> !B
          %s = "tile.dot"(%x, %y, %acc) : (!A, !B, !C) -> !C
          scf.yield %s : !C
        }
        "tile.store"(%r, %c, %row, %col) {masked} : (!C, !GC, index, index) -> ()
      }
    }
"""

# The first columns of A are kept for the whole run.
OUTSIDE = """
    %cols = memref.dim %b, %c1 : !GA
    %x = "tile.load"(%a, %c0, %c0) {masked} : (!GA, index, index) -> !A
    scf.for %col = %c0 to %cols step %c64 {
      %y = "tile.load"(%b, %c0, %col) {masked} : (!GA, index, index) -> !B
      %s = "tile.dot"(%x, %y, %zero) : (!A, !B, !C) -> !C
      "tile.store"(%s, %c, %c0, %col) {masked} : (!C, !GC, index, index) -> ()
    }
"""

WIDENED = """
    %r = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (!C) {
      %x = "tile.load"(%a, %c0, %k) {masked} : (!GA, index, index) -> !A
      %w = "tile.load"(%b, %k, %c0) {masked} : (!GW, index, index) -> !W
      %y = arith.sitofp %w : !W to !B
      %s = "tile.dot"(%x, %y, %acc) : (!A, !B, !C) -> !C
      scf.yield %s : !C
    }
    "tile.store"(%r, %c, %c0, %c0) {masked} : (!C, !GC, index, index) -> ()
"""

# Every other slice counts; one tile of A meets two of B, of which the second is the first shifted.
TWICE = """
    %r = scf.for %k = %c0 to %depth step %c32 iter_args(%acc = %zero) -> (!C) {
      %odd = arith.andi %k, %c32 : index
      %skip = arith.cmpi ne, %odd, %c0 : index
      %t = scf.if %skip -> (!C) {
        scf.yield %acc : !C
      } else {
        %x = "tile.load"(%a, %c0, %k) {masked} : (!GA, index, index) -> !A
        %y = "tile.load"(%b, %k, %c0) {masked} : (!GA, index, index) -> !B
        %z = "tile.load"(%b, %k, %c1) {masked} : (!GA, index, index) -> !B
        %s = "tile.dot"(%x, %y, %acc) : (!A, !B, !C) -> !C
        %u = "tile.dot"(%x, %z, %s) : (!A, !B, !C) -> !C
        scf.yield %u : !C
      }
      scf.yield %t : !C
    }
    "tile.store"(%r, %c, %c0, %c0) {masked} : (!C, !GC, index, index) -> ()
"""

# What a round writes the next one reads: nothing may be copied ahead.
IN_PLACE = """
    scf.for %i = %c0 to %n step %c1 {
      %x = "tile.load"(%a, %c0, %c0) {masked} : (!GA, index, index) -> tensor<64x64xf16>
      %y = "tile.load"(%b, %c0, %c0) {masked} : (!GA, index, index) -> tensor<64x64xf16>
      %s = "tile.dot"(%x, %y, %zero) : (tensor<64x64xf16>, tensor<64x64xf16>, !C) -> !C
      %t = arith.truncf %s : !C to tensor<64x64xf16>
      "tile.store"(%t, %b, %c0, %c0) {masked} : (tensor<64x64xf16>, !GA, index, index) -> ()
    }
"""


def _text(body, *, alone=True, weights="!GA"):
    alias = ", llvm.noalias" if alone else ""
    return KERNEL.replace("BODY", body).replace("ALIAS", alias).replace("BTYPE", weights)


def _single(*matrices):
    return [matrix.astype(np.float32) for matrix in matrices]


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("depth", [0, 31, 160])
def test_nest_of_loops(run, padded, rng, target, alone, depth) -> None:
    a, b = padded(rng, 100, depth, np.float16), padded(rng, depth, 130, np.float16)
    c = np.full((100, 130), np.nan, np.float32)
    run(_text(NEST, alone=alone), "kernel", (1, 1), [a, b, c, 100], target=target)
    x, y = _single(a, b)
    np.testing.assert_array_equal(c, x @ y)


@pytest.mark.parametrize("alone", [True, False])
def test_one_operand_outside(run, padded, rng, alone) -> None:
    a, b = padded(rng, 60, 32, np.float16), padded(rng, 32, 300, np.float16)
    c = np.full((60, 300), np.nan, np.float32)
    run(_text(OUTSIDE, alone=alone), "kernel", (1, 1), [a, b, c, 0])
    x, y = _single(a, b)
    np.testing.assert_array_equal(c, x @ y)


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_widened_weights(run, padded, rng, target) -> None:
    a, w = padded(rng, 60, 90, np.float16), padded(rng, 90, 50, np.int8)
    c = np.full((60, 50), np.nan, np.float32)
    run(_text(WIDENED, weights="!GW"), "kernel", (1, 1), [a, w, c, 0], target=target)
    x, y = _single(a, w)
    np.testing.assert_array_equal(c, x @ y)


def test_condition_and_one_tile_twice(run, padded, rng) -> None:
    a, b = padded(rng, 64, 150, np.float16), padded(rng, 150, 65, np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    run(_text(TWICE), "kernel", (1, 1), [a, b, c, 0])
    x, y = _single(a, b)
    kept = np.arange(150) % 64 < 32
    x, y = x[:, kept], y[kept]
    np.testing.assert_array_equal(c, x @ y[:, :64] + x @ y[:, 1:65])


@pytest.mark.parametrize("target", ["sm_75", "sm_80"])
def test_what_a_round_writes(run, padded, rng, target) -> None:
    a, b = padded(rng, 64, 64, np.float16), padded(rng, 64, 64, np.float16)
    a[...] = np.eye(64)[rng.permutation(64)]
    (x,), (wanted,) = _single(a), _single(b)
    for _ in range(3):
        wanted = x @ wanted
    c = np.zeros((1, 1), np.float32)
    run(_text(IN_PLACE, alone=False), "kernel", (1, 1), [a, b, c, 3], target=target)
    np.testing.assert_array_equal(b, wanted)
