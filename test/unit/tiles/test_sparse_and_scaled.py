"""Sparse and block-scaled products written on tiles without layouts are what numpy computes.

A is pruned and compressed, or scaled, here; the passes choose instruction and layouts.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from tilec.isa import form
from tilec.runtime import sparse

SPARSE = {
    # element type: numpy's, that of sums, numpy's, a form that has its pattern of zeros
    "f16": (np.float16, "f32", np.float32, "m16n8k32.row.col.f32.f16.f16.f32"),
    "i8": (np.int8, "i32", np.int32, "m16n8k64.row.col.s32.s8.s8.s32"),
}


@pytest.mark.parametrize("target", ["sm_80", "sm_90"])
@pytest.mark.parametrize("shape", [(64, 64, 128), (16, 32, 64)])
@pytest.mark.parametrize("name", SPARSE)
def test_sparse(run, random, name, shape, target) -> None:
    m, n, k = shape
    dtype, total, total_dtype, mnemonic = SPARSE[name]
    pattern = form(f"mma.sp::ordered_metadata.sync.aligned.{mnemonic}")
    dense = sparse.prune(pattern, random.integers(-3, 4, (m, k)).astype(dtype))
    stored, codes = sparse.compress(pattern, dense)
    b = random.integers(-3, 4, (k, n)).astype(dtype)
    got = np.zeros((m, n), total_dtype)
    packed = (codes[:, ::2] | codes[:, 1::2] << 4).view(np.int8)
    tiles = {
        "a": f"{m}x{k // 2}x{name}",
        "b": f"{k}x{n}x{name}",
        "c": f"{m}x{n}x{total}",
        "e": f"{m}x{codes.shape[1]}xi4",
    }
    held = f"{m}x{packed.shape[1]}xi8"
    text = f"""
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%a: memref<{tiles["a"]}>, %b: memref<{tiles["b"]}>, %c: memref<{tiles["c"]}>,
              %e: memref<{held}>)
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %z = arith.constant 0 : index
    %ta = "tile.load"(%a, %z, %z) : (memref<{tiles["a"]}>, index, index) -> tensor<{tiles["a"]}>
    %tb = "tile.load"(%b, %z, %z) : (memref<{tiles["b"]}>, index, index) -> tensor<{tiles["b"]}>
    %tc = "tile.load"(%c, %z, %z) : (memref<{tiles["c"]}>, index, index) -> tensor<{tiles["c"]}>
    %te = "tile.load"(%e, %z, %z) : (memref<{held}>, index, index) -> tensor<{tiles["e"]}>
    %d = "tile.dot_sp"(%ta, %tb, %tc, %te) : (tensor<{tiles["a"]}>, tensor<{tiles["b"]}>,
        tensor<{tiles["c"]}>, tensor<{tiles["e"]}>) -> tensor<{tiles["c"]}>
    "tile.store"(%d, %c, %z, %z) : (tensor<{tiles["c"]}>, memref<{tiles["c"]}>, index, index) -> ()
    gpu.return
  }}
}}
"""
    compiled = run(text, [stored, b, got, packed], target=target)
    assert "mma.sp::ordered_metadata" in compiled.ptx
    np.testing.assert_array_equal(got, dense.astype(total_dtype) @ b.astype(total_dtype))


@pytest.mark.parametrize("shape", [(64, 64, 64), (16, 32, 128)])
def test_scaled(run, random, shape) -> None:
    m, n, k = shape
    narrow = ml_dtypes.float8_e4m3fn
    a, b = (random.integers(-4, 5, size).astype(narrow) for size in ((m, k), (k, n)))
    scales = [
        np.exp2(random.integers(-2, 3, size)).astype(ml_dtypes.float8_e8m0fnu)
        for size in ((m, k // 32), (k // 32, n))
    ]
    got = np.zeros((m, n), np.float32)
    left = a.astype(np.float32) * np.repeat(scales[0].astype(np.float32), 32, axis=1)
    right = b.astype(np.float32) * np.repeat(scales[1].astype(np.float32), 32, axis=0)
    shapes = {"a": (m, k), "b": (k, n), "p": (m, k // 32), "q": (k // 32, n)}
    types = dict.fromkeys("ab", "f8E4M3FN") | dict.fromkeys("pq", "f8E8M0FNU")
    tiles = {x: f"tensor<{r}x{c}x{types[x]}>" for x, (r, c) in shapes.items()}
    memory = {x: f"memref<{r}x{c}xi8>" for x, (r, c) in shapes.items()}
    loads = "\n".join(
        f'    %t{x} = "tile.load"(%{x}, %z, %z) : ({memory[x]}, index, index) -> {tiles[x]}'
        for x in shapes
    )
    sums, result = f"tensor<{m}x{n}xf32>", f"memref<{m}x{n}xf32>"
    arguments = ", ".join(f"%{x}: {memory[x]}" for x in shapes)
    text = f"""
gpu.module @m [#nvvm.target<chip = "sm_120a">] {{
  gpu.func @k({arguments}, %c: {result})
      kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
    %z = arith.constant 0 : index
{loads}
    %zero = arith.constant dense<0.0> : {sums}
    %d = "tile.dot_scaled"(%ta, %tb, %zero, %tp, %tq)
        : ({tiles["a"]}, {tiles["b"]}, {sums}, {tiles["p"]}, {tiles["q"]}) -> {sums}
    "tile.store"(%d, %c, %z, %z) : ({sums}, {result}, index, index) -> ()
    gpu.return
  }}
}}
"""
    compiled = run(text, [*(x.view(np.int8) for x in (a, b, *scales)), got])
    assert "block_scale" in compiled.ptx
    np.testing.assert_array_equal(got, left @ right)
