"""Tiles without layouts: arithmetic, masks, casts and atomic updates agree with numpy.

Whole pipelines, from tiles to PTX, run on the simulator over sizes that fit tiles and sizes that do
not: none, one, primes, and more than a grid's last CTA has. Its checks watch bounds and races.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import tilec
from tilec.launch.arguments import passed
from tilec.sim import launch

TARGETS = ("sm_75", "sm_80", "sm_90")
LENGTHS = (0, 1, 255, 256, 257, 1021)


def _launch(compiled: tilec.Compiled, grid: int, arguments: list[object]) -> None:
    (kernel,) = compiled.kernels
    given = passed(kernel, arguments)
    shared = kernel.dynamic_shared
    report = launch(compiled.ptx, "k", grid, kernel.block, given, dynamic_smem=shared)
    assert not report.findings


ACTIVATION = """
gpu.module @m {
  gpu.func @k(%x: memref<?xf32>, %h: memref<?xf16>, %negative: memref<1xi32>)
      kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %cta = gpu.block_id x
    %size = arith.constant 256 : index
    %i = arith.muli %cta, %size : index
    %v = "tile.load"(%x, %i) {masked} : (memref<?xf32>, index) -> tensor<256xf32>
    %half = arith.constant dense<0.5> : tensor<256xf32>
    %root = arith.constant dense<0.70710678> : tensor<256xf32>
    %one = arith.constant dense<1.0> : tensor<256xf32>
    %scaled = arith.mulf %v, %root : tensor<256xf32>
    %erf = math.erf %scaled : tensor<256xf32>
    %more = arith.addf %erf, %one : tensor<256xf32>
    %part = arith.mulf %v, %half : tensor<256xf32>
    %gelu = arith.mulf %part, %more : tensor<256xf32>
    %r = arith.truncf %gelu : tensor<256xf32> to tensor<256xf16>
    "tile.store"(%r, %h, %i) {masked} : (tensor<256xf16>, memref<?xf16>, index) -> ()

    %zero = arith.constant dense<0.0> : tensor<256xf32>
    %below = arith.cmpf olt, %v, %zero : tensor<256xf32>
    %counted = arith.extui %below : tensor<256xi1> to tensor<256xi32>
    %total = "tile.reduce"(%counted) {axis = 0, fn = "arith.addi"} : (tensor<256xi32>) -> i32
    %all = "tile.fill"(%total) : (i32) -> tensor<1xi32>
    "tile.atomic"(%all, %negative, %c0) {fn = "arith.addi"}
        : (tensor<1xi32>, memref<1xi32>, index) -> ()
    gpu.return
  }
}
"""


@pytest.mark.parametrize("target", TARGETS)
def test_activation_and_a_count(target: str) -> None:
    compiled = tilec.compile(ACTIVATION, target=target)
    for length in LENGTHS:
        x = np.random.default_rng(length).normal(size=length).astype(np.float32)
        got, count = np.zeros(length, np.float16), np.zeros(1, np.int32)
        grid = -(-length // 256) + 1  # the last CTA has nothing to do
        _launch(compiled, grid, [x, got, count])
        wide = x.astype(np.float64)
        erf = np.array([math.erf(v / math.sqrt(2)) for v in wide])
        np.testing.assert_allclose(got, (wide / 2 * (1 + erf)), rtol=2e-3, atol=1e-4)
        assert count[0] == (x < 0).sum()


MASKED = """
gpu.module @m {{
  gpu.func @k(%x: memref<?x?x{element}>, %y: memref<?x?x{element}>, %z: memref<?x?x{element}>,
              %limit: {element}, %flip: i1)
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %cta = gpu.block_id x
    %size = arith.constant 32 : index
    %c0 = arith.constant 0 : index
    %i = arith.muli %cta, %size : index
    %a = "tile.load"(%x, %i, %c0) {{masked}} : (memref<?x?x{element}>, index, index) -> !T
    %b = "tile.load"(%y, %i, %c0) {{masked}} : (memref<?x?x{element}>, index, index) -> !T
    %bound = "tile.fill"(%limit) : ({element}) -> !T
    %p = arith.cmpi slt, %a, %b : !T
    %q = arith.cmpi ugt, %b, %bound : !T
    %both = arith.andi %p, %q : !M
    %either = arith.ori %p, %q : !M
    %mask = arith.select %flip, %both, %either : !M
    %quotient = arith.floordivsi %a, %bound : !T
    %rest = arith.remsi %b, %bound : !T
    %r = arith.select %mask, %quotient, %rest : !M, !T
    "tile.store"(%r, %z, %i, %c0) {{masked}} : (!T, memref<?x?x{element}>, index, index) -> ()
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "i64"])
def test_masks_choose(element: str) -> None:
    text = f"!T = tensor<32x64x{element}>\n!M = tensor<32x64xi1>\n"
    compiled = tilec.compile(text + MASKED.format(element=element), target="sm_80")
    dtype = np.dtype(f"int{element[1:]}")
    unsigned = f"u{dtype.itemsize}"
    limit = dtype.type(7)
    for (rows, cols), flip in itertools.product(((32, 64), (67, 61), (1, 1), (96, 0)), (0, 1)):
        random = np.random.default_rng(rows)
        x, y = (random.integers(-100, 100, (rows, cols)).astype(dtype) for _ in range(2))
        got = np.zeros_like(x)
        _launch(compiled, -(-rows // 32), [x, y, got, limit, flip])
        p, q = x < y, y.view(unsigned) > limit.view(unsigned)
        mask = p & q if flip else p | q
        wanted = np.where(mask, x // limit, np.fmod(y, limit))
        np.testing.assert_array_equal(got, wanted)


SPLIT = """
gpu.module @m {{
  gpu.func @k(%x: memref<?x?x{element}>, %sums: memref<?x{element}>)
      kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
    %cta = gpu.block_id x
    %size = arith.constant 16 : index
    %c0 = arith.constant 0 : index
    %i = arith.muli %cta, %size : index
    %t = "tile.load"(%x, %i, %c0) {{masked}}
        : (memref<?x?x{element}>, index, index) -> tensor<16x64x{element}>
    %s = "tile.reduce"(%t) {{axis = 0, fn = "{fn}"}}
        : (tensor<16x64x{element}>) -> tensor<64x{element}>
    "tile.atomic"(%s, %sums, %c0) {{masked, fn = "{fn}"}}
        : (tensor<64x{element}>, memref<?x{element}>, index) -> ()
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("element", "fn"),
    [("f32", "arith.addf"), ("f16", "arith.addf"), ("i32", "arith.maxsi"), ("i64", "arith.addi")],
)
def test_sums_over_ctas(element: str, fn: str, target: str) -> None:
    """Each CTA adds its rows to what the others have found."""
    dtype = np.dtype({"f32": np.float32, "f16": np.float16}.get(element, f"int{element[1:]}"))
    compiled = tilec.compile(SPLIT.format(element=element, fn=fn), target=target)
    for rows, cols in ((64, 64), (37, 53), (1, 1)):
        x = np.random.default_rng(rows).integers(0, 9, (rows, cols)).astype(dtype)
        got = np.zeros(cols, dtype)
        _launch(compiled, -(-rows // 16), [x, got])
        wanted = x.max(axis=0) if "max" in fn else x.sum(axis=0, dtype=dtype)
        np.testing.assert_array_equal(got, wanted)
