"""C = A·B by as many CTAs as the GPU holds, each of which takes one tile after the other."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def persistent_gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float16, int, int],
    next_tile: tl.Array[tl.int32, int],
    BLOCK: tl.Constant[int] = 64,
    GROUP: tl.Constant[int] = 4,
) -> None:
    """Tiles are drawn from a counter, in groups of rows, whose columns L2 holds."""
    down, across = tl.cdiv(c.shape[0], BLOCK), tl.cdiv(c.shape[1], BLOCK)
    while True:
        tile = tl.atomic_add(next_tile, 0, 1).astype(tl.int64)
        if tile >= down * across:
            break
        first = tile // (GROUP * across) * GROUP
        rows = min(down - first, GROUP)
        row = (first + tile % (GROUP * across) % rows) * BLOCK
        col = tile % (GROUP * across) // rows * BLOCK
        acc = tl.zeros((BLOCK, BLOCK))
        for k in range(0, a.shape[1], BLOCK):
            held = tl.load(a, (row, k), (BLOCK, BLOCK))
            acc = tl.dot(held, tl.load(b, (k, col), (BLOCK, BLOCK)), acc)
        tl.store(c, (row, col), acc.astype(tl.float16))


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    a = random.integers(-3, 4, (330, 72)).astype(np.float16)
    b = random.integers(-3, 4, (72, 136)).astype(np.float16)
    c, next_tile = np.full((330, 136), np.nan, np.float16), np.zeros(1, np.int32)
    persistent_gemm.using(**settings)[4](a, b, c, next_tile)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


if __name__ == "__main__":
    check()
