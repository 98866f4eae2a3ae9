"""C = A·B by CTAs that share the steps of K of all tiles out evenly, with a fix-up.

A tile that several CTAs work on is written by the one with its first step. The others leave their
sums in memory and raise a flag; they are those next to it, each of which ends such a tile at most.
"""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def stream_k_gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    parts: tl.Array[tl.float32, int, int, int],  # a tile for each CTA
    flags: tl.Array[tl.int32, int],  # 0 for each CTA
    BLOCK: tl.Constant[int] = 64,
    DEEP: tl.Constant[int] = 32,
) -> None:
    across, steps = tl.cdiv(c.shape[1], BLOCK), tl.cdiv(a.shape[1], DEEP)
    total = tl.cdiv(c.shape[0], BLOCK) * across * steps
    share = tl.cdiv(total, tl.num_programs(0))
    me = tl.program_id(0)
    step, end = me * share, min(me * share + share, total)
    while step < end:
        tile = step // steps
        row, col = tile // across * BLOCK, tile % across * BLOCK
        first, last = tile * steps, tile * steps + steps
        stop = min(end, last)
        acc = tl.zeros((BLOCK, BLOCK))
        for k in range((step - first) * DEEP, (stop - first) * DEEP, DEEP):
            left = tl.load(a, (row, k), (BLOCK, DEEP))
            acc = tl.dot(left, tl.load(b, (k, col), (DEEP, BLOCK)), acc)
        if step > first:  # another CTA has begun the tile
            tl.store(parts, (me, 0, 0), acc)
            tl.debug_barrier()
            tl.atomic_xchg(flags, me, 1, sem="release")
        else:
            other = me + 1
            while other * share < last:
                while tl.atomic_or(flags, other, 0, sem="acquire") == 0:
                    pass
                tl.debug_barrier()
                acc += tl.load(parts, (other, 0, 0), (BLOCK, BLOCK))
                other += 1
            tl.store(c, (row, col), acc)
        step = stop


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    m, n, k = 130, 70, 200
    a = random.integers(-3, 4, (m, k)).astype(np.float16)
    b = random.integers(-3, 4, (k, n)).astype(np.float16)
    ctas = 5  # of 42 steps 9 each, the last 6
    c, flags = np.full((m, n), np.nan, np.float32), np.zeros(ctas, np.int32)
    parts = np.empty((ctas, 64, 64), np.float32)
    stream_k_gemm.using(**settings)[ctas](a, b, c, parts, flags)
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.astype(np.float32))


if __name__ == "__main__":
    check()
