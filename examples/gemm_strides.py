"""The program of gemm_strides.mlir, built from Python: any extents, any strides.

Run as a program it prints the PTX, for the target given as an argument.
"""

import sys
from typing import Any

import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect

FORM = "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
TILE, DEPTH, WARPS = 64, 32, (2, 2)


def gemm_strides() -> Any:
    """The module."""
    arith, gpu, memref, scf = map(dialect, ("arith", "gpu", "memref", "scf"))
    inputs = "memref<?x?xf16, strided<[?, ?]>>"
    result = "memref<?x?xf32, strided<[?, ?]>>"
    with (
        tile.module("gemm_strides", target="sm_80") as module,
        tile.kernel(
            "gemm_strides", {"a": inputs, "b": inputs, "c": result}, block=128, noalias="c"
        ) as (
            a,
            b,
            c,
        ),
    ):
        tile_a = tile.operand_tensor(FORM, "a", TILE, DEPTH, warps=WARPS)
        tile_b = tile.operand_tensor(FORM, "b", DEPTH, TILE, warps=WARPS)
        tile_c = tile.operand_tensor(FORM, "c", TILE, TILE, warps=WARPS)

        x, y = gpu.block_id("x"), gpu.block_id("y")
        col = arith.muli(x, tile.index(TILE))
        row = arith.muli(y, tile.index(TILE))
        depth = memref.dim(a, tile.index(1))
        sa = tile.alloc_shared((TILE, DEPTH), "f16", "64B")
        sb = tile.alloc_shared((DEPTH, TILE), "f16", "128B")

        zero = tile.fill(0.0, tile_c)
        for k, total, product in scf.for_(0, depth, DEPTH, iter_args=[zero]):
            tile.async_copy(a, (row, k), sa, (0, 0), masked=True)
            tile.async_copy(b, (k, col), sb, (0, 0), masked=True)
            gpu.barrier()
            fa = tile.load(sa, 0, 0, type=tile_a)
            fb = tile.load(sb, 0, 0, type=tile_b)
            following = tile.dot(FORM, fa, fb, total)
            gpu.barrier()
            scf.yield_([following])
        tile.store(product, c, row, col, masked=True)
    return module


if __name__ == "__main__":
    print(tilec.compile(gemm_strides(), target=sys.argv[1] if len(sys.argv) > 1 else None).ptx)
