"""C[g] = A[g]·B[g] for problems of many sizes in one launch, by as many CTAs as the GPU holds."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Input = tl.Array[tl.float16, int, int]
Result = tl.Array[tl.float32, int, int]


@tilec.kernel
def grouped_gemm(
    a: list[Input], b: list[Input], c: list[Result], BLOCK: tl.Constant[int] = 64
) -> None:
    before = 0
    tile = tl.program_id(0)
    for g in range(len(a)):
        x, y, z = a[g], b[g], c[g]
        across = tl.cdiv(z.shape[1], BLOCK)
        count = tl.cdiv(z.shape[0], BLOCK) * across
        while tile < before + count:
            row, col = (tile - before) // across * BLOCK, (tile - before) % across * BLOCK
            acc = tl.zeros((BLOCK, BLOCK))
            for k in range(0, x.shape[1], BLOCK):
                left = tl.load(x, (row, k), (BLOCK, BLOCK))
                acc = tl.dot(left, tl.load(y, (k, col), (BLOCK, BLOCK)), acc)
            tl.store(z, (row, col), acc)
            tile += tl.num_programs(0)
        before += count


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    shapes = [(70, 40, 100), (33, 130, 64), (128, 20, 50)]
    a = [random.integers(-4, 5, (m, k)).astype(np.float16) for m, _, k in shapes]
    b = [random.integers(-4, 5, (k, n)).astype(np.float16) for _, n, k in shapes]
    c = [np.full((m, n), np.nan, np.float32) for m, n, _ in shapes]
    grouped_gemm.using(**settings)[4](a, b, c)
    for x, y, z in zip(a, b, c, strict=True):
        np.testing.assert_array_equal(z, x.astype(np.float32) @ y.astype(np.float32))


if __name__ == "__main__":
    check()
