"""The programs of gemm.mlir and gemm_bounds.mlir, built from Python.

The same pipeline for any tile, form and number of buffers: what the .mlir files write out, this
computes. Run as a program it prints the PTX, for the target given as an argument.
"""

import sys
from typing import Any

import tilec
from tilec.dialects.tile import builders as tile
from tilec.ir.mlir import dialect, ir
from tilec.isa import form as find_form

FORM = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"


def gemm(
    *,
    bounds: bool = False,
    form: str = FORM,
    tile_shape: tuple[int, int, int] = (128, 128, 64),
    warps: tuple[int, int] = (4, 2),
    stages: int = 3,
    name: str | None = None,
) -> Any:
    """C = A·B: A is MxK, B is KxN, C is MxN, all row-major.

    Args:
        bounds: whether M, N and K may be no multiples of the tile.
        form: the instruction; its A and B have elements of 16 bits.
        tile_shape: of a CTA, M, N and K.
        warps: of a CTA, along M and N.
        stages: buffers of the pipeline, two or more.
        name: of the kernel.
    """
    name = name or ("gemm_bounds" if bounds else "gemm")
    rows, cols, deep = tile_shape
    instruction = find_form(form)
    step = instruction.operand("a").cols
    element, sum_element = (str(instruction.operand(n).type) for n in "ac")
    inputs = f"memref<?x?x{element}, strided<[?, 1]>>"
    result = f"memref<?x?x{sum_element}, strided<[?, 1]>>"
    arguments = {"a": inputs, "b": inputs, "c": result}
    block = 32 * warps[0] * warps[1]

    arith, gpu, memref, scf = map(dialect, ("arith", "gpu", "memref", "scf"))
    with (
        tile.module(name, target="sm_80") as module,
        tile.kernel(name, arguments, block=block, noalias="c") as (a, b, c),
    ):
        tile_a = tile.operand_tensor(form, "a", rows, step, warps=warps)
        tile_b = tile.operand_tensor(form, "b", step, cols, warps=warps)
        tile_c = tile.operand_tensor(form, "c", rows, cols, warps=warps)

        x, y = gpu.block_id("x"), gpu.block_id("y")
        col = arith.muli(x, tile.index(cols))
        row = arith.muli(y, tile.index(rows))
        depth = memref.dim(a, tile.index(1))

        sa = tile.alloc_shared((stages, rows, deep), element, swizzle(2 * deep))
        sb = tile.alloc_shared((stages, deep, cols), element, swizzle(2 * cols))

        def copy(k: Any, stage: Any) -> None:
            tile.async_copy(a, (row, k), sa, (stage, 0, 0), vector=8, masked=bounds)
            tile.async_copy(b, (k, col), sb, (stage, 0, 0), vector=8, masked=bounds)

        def copy_if_any(k: Any, stage: Any) -> None:
            there = arith.cmpi(arith.CmpIPredicate.ult, k, depth)
            with ir.InsertionPoint(scf.IfOp(there).then_block):
                copy(k, stage)
                scf.yield_([])
            tile.async_commit()

        copy(0, 0)
        tile.async_commit()
        for stage in range(1, stages - 1):
            copy_if_any(tile.index(stage * deep), stage)

        start = [tile.fill(0.0, tile_c), tile.index(0), tile.index(stages - 1)]
        for k, (total, read, write), results in scf.for_(0, depth, deep, iter_args=start):
            tile.async_wait(stages - 2)
            gpu.barrier()
            copy_if_any(arith.addi(k, tile.index((stages - 1) * deep)), write)

            fragments = [
                (
                    tile.load(sa, read, 0, kk, type=tile_a),
                    tile.load(sb, read, kk, 0, type=tile_b),
                )
                for kk in range(0, deep, step)
            ]
            partial = total
            for fa, fb in fragments:
                partial = tile.dot(form, fa, fb, partial)

            following = arith.addi(read, tile.index(1))
            wraps = arith.cmpi(arith.CmpIPredicate.eq, following, tile.index(stages))
            following = arith.select(wraps, tile.index(0), following)
            scf.yield_([partial, following, read])

        vector = {"masked": True} if bounds else {"vector": 2}
        tile.store(results[0], c, row, col, **vector)
    return module


def swizzle(row_bytes: int) -> str:
    """What puts the 16-byte pieces above each other in eight rows into different banks."""
    log = row_bytes.bit_length() - 1
    return f"swizzle<{min(log - 4, 3)},4,{max(log - 4, 3)}>"


if __name__ == "__main__":
    print(tilec.compile(gemm(), target=sys.argv[1] if len(sys.argv) > 1 else None).ptx)
