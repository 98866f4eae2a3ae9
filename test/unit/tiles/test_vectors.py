"""Kernels on vectors of the whole CTA agree with numpy.

Products with ragged extents, elements that need care, and a softmax.
"""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np
import pytest

MAPS = {
    "mk": "affine_map<(m, n, k) -> (m, k)>",
    "km": "affine_map<(m, n, k) -> (k, m)>",
    "kn": "affine_map<(m, n, k) -> (k, n)>",
    "nk": "affine_map<(m, n, k) -> (n, k)>",
    "mn": "affine_map<(m, n, k) -> (m, n)>",
    "nm": "affine_map<(m, n, k) -> (n, m)>",
}
SIZES = {"m": 64, "n": 32, "k": 16}


def contract(a: str, b: str, c: str) -> str:
    maps = ", ".join(MAPS[of] for of in (a, b, c))
    return f"""vector.contract {{indexing_maps = [{maps}],
        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}}"""


def vector(of: str, element: str) -> str:
    return f"vector<{SIZES[of[0]]}x{SIZES[of[1]]}x{element}>"


@pytest.mark.parametrize(
    ("a", "b", "c"),
    [("mk", "kn", "mn"), ("km", "nk", "mn"), ("mk", "nk", "nm"), ("km", "kn", "nm")],
)
def test_products(run: Any, random: np.random.Generator, a: str, b: str, c: str) -> None:
    """A loop over K of masked transfers, the operands stored and multiplied in any order."""
    va, vb, vc = vector(a, "f16"), vector(b, "f16"), vector(c, "f32")
    starts = {"m": "%row", "n": "%col", "k": "%k"}
    places = [f"{starts[of[0]]}, {starts[of[1]]}" for of in (a, b, c)]
    text = f"""
    gpu.module @m {{
      gpu.func @product(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>)
          kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
        %c0 = arith.constant 0 : index
        %rows = arith.constant {SIZES["m"]} : index
        %cols = arith.constant {SIZES["n"]} : index
        %step = arith.constant {SIZES["k"]} : index
        %pad = arith.constant 0.0 : f16
        %x = gpu.block_id x
        %y = gpu.block_id y
        %col = arith.muli %x, %cols : index
        %row = arith.muli %y, %rows : index
        %dim = arith.constant {a.index("k")} : index
        %depth = memref.dim %a, %dim : memref<?x?xf16>
        %zero = arith.constant dense<0.0> : {vc}
        %sum = scf.for %k = %c0 to %depth step %step iter_args(%acc = %zero) -> ({vc}) {{
          %va = vector.transfer_read %a[{places[0]}], %pad : memref<?x?xf16>, {va}
          %vb = vector.transfer_read %b[{places[1]}], %pad : memref<?x?xf16>, {vb}
          %next = {contract(a, b, c)} %va, %vb, %acc : {va}, {vb} into {vc}
          scf.yield %next : {vc}
        }}
        vector.transfer_write %sum, %c[{places[2]}] : {vc}, memref<?x?xf32>
        gpu.return
      }}
    }}"""
    extents = {"m": 70, "n": 45, "k": 37}
    left, right = (
        random.integers(-4, 5, [extents[loop] for loop in of]).astype(np.float16) for of in (a, b)
    )
    result = np.full([extents[loop] for loop in c], np.nan, np.float32)
    run(text, [left, right, result], grid=(ceil(45 / SIZES["n"]), ceil(70 / SIZES["m"])))
    expected = np.einsum(f"{a},{b}->{c}", left.astype(np.float64), right.astype(np.float64))
    np.testing.assert_array_equal(result, expected)


def test_elements(run: Any, random: np.random.Generator) -> None:
    """Bytes without and with a sign, f32 rounded to tf32, and bf16 rounded once a product."""
    reads = "\n".join(
        f"%{name} = vector.transfer_read %{name}m[%i, %i], %{pad} {{in_bounds = [true, true]}}"
        f" : memref<16x16x{element}>, vector<16x16x{element}>"
        for name, element, pad in (
            ("a", "i8", "zero8"),
            ("c", "i32", "zero32"),
            ("f", "f32", "zerof"),
            ("g", "f32", "zerof"),
        )
    )
    product = contract("mk", "kn", "mn")
    text = f"""
    gpu.module @m {{
      gpu.func @elements(%am: memref<16x16xi8>, %cm: memref<16x16xi32>, %fm: memref<16x16xf32>,
                         %gm: memref<16x16xf32>)
          kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
        %i = arith.constant 0 : index
        %zero8 = arith.constant 0 : i8
        %zero32 = arith.constant 0 : i32
        %zerof = arith.constant 0.0 : f32
        {reads}
        %wide = arith.extui %a : vector<16x16xi8> to vector<16x16xi32>
        %signed = arith.extsi %a : vector<16x16xi8> to vector<16x16xi32>
        %d = {product} %wide, %signed, %c
            : vector<16x16xi32>, vector<16x16xi32> into vector<16x16xi32>
        vector.transfer_write %d, %cm[%i, %i] : vector<16x16xi32>, memref<16x16xi32>
        %h = {product.replace("{", "{tile.tf32, ", 1)} %f, %f, %g
            : vector<16x16xf32>, vector<16x16xf32> into vector<16x16xf32>
        %bf = arith.truncf %f : vector<16x16xf32> to vector<16x16xbf16>
        %bg = arith.truncf %g : vector<16x16xf32> to vector<16x16xbf16>
        %bh = {product} %bf, %bf, %bg
            : vector<16x16xbf16>, vector<16x16xbf16> into vector<16x16xbf16>
        %eh = arith.extf %bh : vector<16x16xbf16> to vector<16x16xf32>
        %both = arith.addf %h, %eh : vector<16x16xf32>
        vector.transfer_write %both, %gm[%i, %i] : vector<16x16xf32>, memref<16x16xf32>
        gpu.return
      }}
    }}"""
    a = random.integers(-128, 128, (16, 16)).astype(np.int8)
    c = random.integers(-128, 128, (16, 16)).astype(np.int32)
    f, g = (random.integers(-4, 5, (16, 16)).astype(np.float32) for _ in range(2))
    product_of_f = f.astype(np.float64) @ f + g
    assert np.abs(product_of_f).max() < 256, "more would be rounded in bf16"
    expected = c + a.view(np.uint8).astype(np.int64) @ a.astype(np.int64)
    run(text, [a, c, f, g])
    np.testing.assert_array_equal(c, expected)
    np.testing.assert_array_equal(g, 2 * product_of_f)


def test_views_of_memory(run: Any, random: np.random.Generator) -> None:
    """A CTA's part of a matrix, as upstream's tiling leaves it: subviews at affine places."""
    part = "memref<64x32xf16, strided<[32, 1], offset: ?>>"
    result = "memref<64x16xf32, strided<[16, 1], offset: ?>>"
    text = f"""
    gpu.module @m {{
      gpu.func @views(%a: memref<192x32xf16>, %b: memref<32x16xf16>, %c: memref<192x16xf32>)
          kernel attributes {{known_block_size = array<i32: 64, 1, 1>}} {{
        %i = arith.constant 0 : index
        %pad = ub.poison : f16
        %pads = ub.poison : f32
        %x = gpu.block_id x
        %row = affine.apply affine_map<(x) -> (x * 64)>(%x)
        %va = memref.subview %a[%row, 0] [64, 32] [1, 1] : memref<192x32xf16> to {part}
        %vc = memref.subview %c[%row, 0] [64, 16] [1, 1] : memref<192x16xf32> to {result}
        %ta = vector.transfer_read %va[%i, %i], %pad {{in_bounds = [true, true]}}
            : {part}, vector<64x32xf16>
        %tb = vector.transfer_read %b[%i, %i], %pad {{in_bounds = [true, true]}}
            : memref<32x16xf16>, vector<32x16xf16>
        %tc = vector.transfer_read %vc[%i, %i], %pads {{in_bounds = [true, true]}}
            : {result}, vector<64x16xf32>
        %d = {contract("mk", "kn", "mn")} %ta, %tb, %tc
            : vector<64x32xf16>, vector<32x16xf16> into vector<64x16xf32>
        vector.transfer_write %d, %vc[%i, %i] {{in_bounds = [true, true]}}
            : vector<64x16xf32>, {result}
        gpu.return
      }}
    }}"""
    a, b = (random.integers(-4, 5, shape).astype(np.float16) for shape in ((192, 32), (32, 16)))
    c = random.integers(-4, 5, (192, 16)).astype(np.float32)
    expected = c + a.astype(np.float64) @ b.astype(np.float64)
    run(text, [a, b, c], grid=(3,))
    np.testing.assert_array_equal(c, expected)


@pytest.mark.parametrize("extent", [1, 33, 64])
def test_softmax_of_positive_numbers(run: Any, random: np.random.Generator, extent: int) -> None:
    """Reductions, broadcasts of both kinds, transposes, comparisons and control flow."""
    text = """
    gpu.module @m {
      gpu.func @softmax(%x: memref<?x64xf32>, %y: memref<64x?xf32>, %total: memref<1xf32>, %n: i32,
                        %scale: f32)
          kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
        %i = arith.constant 0 : index
        %one = arith.constant 1 : index
        %three = arith.constant 3 : index
        %pad = arith.constant 0.0 : f32
        %low = arith.constant dense<0xFF800000> : vector<64xf32>
        %zero = arith.constant dense<0.0> : vector<64xf32>
        %read = vector.transfer_read %x[%i, %i], %pad
            {permutation_map = affine_map<(r, c) -> (c, r)>, in_bounds = [true, false]}
            : memref<?x64xf32>, vector<64x64xf32>
        %max = vector.multi_reduction <maximumf>, %read, %low [1]
            : vector<64x64xf32> to vector<64xf32>
        %maxima = vector.broadcast %max : vector<64xf32> to vector<64x64xf32>
        %each = vector.transpose %maxima, [1, 0] : vector<64x64xf32> to vector<64x64xf32>
        %shifted = arith.subf %read, %each : vector<64x64xf32>
        %power = math.exp %shifted : vector<64x64xf32>
        %none = arith.constant dense<0.0> : vector<64x64xf32>
        %positive = arith.cmpf oge, %read, %none : vector<64x64xf32>
        %kept = arith.select %positive, %power, %none : vector<64x64xi1>, vector<64x64xf32>
        %some = scf.for %k = %i to %three step %one iter_args(%v = %kept) -> (vector<64x64xf32>) {
          %scales = vector.broadcast %scale : f32 to vector<64x64xf32>
          %more = arith.mulf %v, %scales : vector<64x64xf32>
          scf.yield %more : vector<64x64xf32>
        }
        %sum = vector.multi_reduction <add>, %some, %zero [1] : vector<64x64xf32> to vector<64xf32>
        %column = vector.shape_cast %sum : vector<64xf32> to vector<64x1xf32>
        %sums = vector.broadcast %column : vector<64x1xf32> to vector<64x64xf32>
        %result = arith.divf %some, %sums : vector<64x64xf32>
        vector.transfer_write %result, %y[%i, %i] {in_bounds = [true, false]}
            : vector<64x64xf32>, memref<64x?xf32>
        %c0 = arith.constant 0 : i32
        %any = arith.cmpi sgt, %n, %c0 : i32
        %chosen = scf.if %any -> (vector<64xf32>) {
          scf.yield %max : vector<64xf32>
        } else {
          scf.yield %zero : vector<64xf32>
        }
        %all = vector.reduction <maximumf>, %chosen : vector<64xf32> into f32
        %single = vector.broadcast %all : f32 to vector<1xf32>
        vector.transfer_write %single, %total[%i] {in_bounds = [true]}
            : vector<1xf32>, memref<1xf32>
        gpu.return
      }
    }"""
    x = random.standard_normal((extent, 64)).astype(np.float32)
    padded = np.vstack([x, np.zeros((64 - extent, 64), np.float32)]).astype(np.float64)
    y, total = np.full((64, extent), np.nan, np.float32), np.zeros(1, np.float32)
    power = np.where(padded >= 0, np.exp(padded - padded.max(axis=0)), 0)
    run(text, [x, y, total, np.int32(extent), np.float32(2.0)])
    np.testing.assert_allclose(y, (power / power.sum(axis=0)).T[:, :extent], rtol=1e-5)
    assert total[0] == padded.max(axis=0).max().astype(np.float32)
