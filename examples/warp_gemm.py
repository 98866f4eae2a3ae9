"""The program of warp_gemm.mlir, built from Python: a warp for each 16x16 tile of C, at level 3.

Run as a program it prints the PTX, for the target given as an argument.
"""

import sys
from typing import Any

import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect

MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
LDMATRIX = "ldmatrix.sync.aligned.m8n8.x4.b16"
LDMATRIX_TRANS = "ldmatrix.sync.aligned.m8n8.x4.trans.b16"
DEPTH = 64

# Two fragments of B side by side, as one ldmatrix.x4 loads them.
TWO_B = "register [1,0] [8,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 16"


def warp_gemm() -> Any:
    """The module."""
    arith, gpu, memref, scf = map(dialect, ("arith", "gpu", "memref", "scf"))
    inputs = "memref<?x?xf16, strided<[?, 1]>>"
    result = "memref<?x?xf32, strided<[?, 1]>>"
    with (
        tile.module("warp_gemm", target="sm_80") as module,
        tile.kernel("warp_gemm", {"a": inputs, "b": inputs, "c": result}, block=32) as (a, b, c),
    ):
        fragment_a, fragment_b, fragment_c = (tile.operand_fragment(MMA, n) for n in "abc")
        two_b = tile.frag_type((16, 16), "f16", TWO_B)

        x, y = gpu.block_id("x"), gpu.block_id("y")
        col = arith.muli(x, tile.index(16))
        right = arith.addi(col, tile.index(8))
        row = arith.muli(y, tile.index(16))
        depth = memref.dim(a, tile.index(1))

        sa = tile.alloc_shared((16, DEPTH), "f16", "128B")
        sb = tile.alloc_shared((DEPTH, 16), "f16", "32B")
        none = tile.fill(0.0, fragment_c)

        for k, (left, rest), sums in scf.for_(0, depth, DEPTH, iter_args=[none, none]):
            tile.async_copy(a, (row, k), sa, (0, 0), vector=8)
            tile.async_copy(b, (k, col), sb, (0, 0), vector=8)
            tile.async_commit()
            tile.async_wait(0)
            gpu.barrier()
            for kk, (left_k, rest_k), inner in scf.for_(0, DEPTH, 16, iter_args=[left, rest]):
                fa = tile.ldmatrix(LDMATRIX, sa, 0, kk, type=fragment_a)
                fb = tile.ldmatrix(LDMATRIX_TRANS, sb, kk, 0, type=two_b)
                b0, b1 = (tile.slice(fb, n, type=fragment_b) for n in range(2))
                scf.yield_([tile.mma(MMA, fa, b0, left_k), tile.mma(MMA, fa, b1, rest_k)])
            gpu.barrier()
            scf.yield_(inner)

        tile.store(sums[0], c, row, col, vector=2)
        tile.store(sums[1], c, row, right, vector=2)
    return module


if __name__ == "__main__":
    print(tilec.compile(warp_gemm(), target=sys.argv[1] if len(sys.argv) > 1 else None).ptx)
