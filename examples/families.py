"""The program of families.mlir, built from Python: one warp, four element types.

Run as a program it prints the PTX, for the target given as an argument.
"""

import sys
from typing import Any

import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect
from tilec.isa import form as find_form

ONE_WARP = (1, 1)


def families() -> Any:
    """The module."""
    with tile.module("families", target="sm_80") as module:
        gemm("gemm_s8", "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", "i8", "i32", n_by_k=True)
        gemm(
            "gemm_bf16",
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
            "bf16",
            "f32",
            n_by_k=True,
            shared=True,
        )
        gemm("gemm_tf32", "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", "f32", "f32")
        gemm("gemm_f64", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64.rn", "f64", "f64")
    return module


def gemm(
    name: str,
    form: str,
    element: str,
    result: str,
    *,
    n_by_k: bool = False,
    shared: bool = False,
) -> None:
    """A kernel of C = A·B, a warp for each 16x16 tile of C.

    Args:
        name: of the kernel.
        form: the instruction.
        element: element type of A and B in memory.
        result: element type of C in memory.
        n_by_k: whether B is given as NxK, else as KxN.
        shared: whether A and B, of 16 bits, go through shared memory; else straight from global.
    """
    arith, gpu, memref, scf = map(dialect, ("arith", "gpu", "memref", "scf"))
    inputs, output = (f"memref<?x?x{e}, strided<[?, 1]>>" for e in (element, result))
    operand_a = find_form(form).operand("a")
    step = max(operand_a.cols, 4)
    with tile.kernel(name, {"a": inputs, "b": inputs, "c": output}, block=32, noalias="c") as (
        a,
        b,
        c,
    ):
        tile_a = tile.operand_tensor(form, "a", 16, step, warps=ONE_WARP)
        tile_b = tile.operand_tensor(form, "b", step, 16, warps=ONE_WARP)
        tile_c = tile.operand_tensor(form, "c", 16, 16, warps=ONE_WARP)
        x, y = gpu.block_id("x"), gpu.block_id("y")
        col = arith.muli(x, tile.index(16))
        row = arith.muli(y, tile.index(16))
        depth = memref.dim(a, tile.index(1))
        zero = tile.fill(0 if result == "i32" else 0.0, tile_c)
        if shared:
            sa = tile.alloc_shared((16, step), element, "32B")
            sb = tile.alloc_shared((16, step), element, "32B")

        for k, total, product in scf.for_(0, depth, step, iter_args=[zero]):
            at_b = (col, k) if n_by_k else (k, col)
            if shared:
                tile.async_copy(a, (row, k), sa, (0, 0), vector=8)
                tile.async_copy(b, at_b, sb, (0, 0), vector=8)
                tile.async_commit()
                tile.async_wait(0)
                gpu.barrier()
                fa = tile.load(sa, 0, 0, type=tile_a)
                fb = tile.load(sb, 0, 0, type=tile_b, transposed=n_by_k)
            else:
                together = operand_a.per_register
                fa = tile.load(a, row, k, type=tile_a, vector=together)
                fb = tile.load(b, *at_b, type=tile_b, vector=together, transposed=n_by_k)
            following = tile.dot(form, fa, fb, total)
            if shared:
                gpu.barrier()
            scf.yield_([following])
        tile.store(product, c, row, col, vector=2)


if __name__ == "__main__":
    print(tilec.compile(families(), target=sys.argv[1] if len(sys.argv) > 1 else None).ptx)
