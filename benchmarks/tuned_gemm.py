"""C = A·B with a search space: what `benchmarks/tune.py` tunes."""

from __future__ import annotations

import tilec
import tilec.lang as tl
from tilec.tuning import powers


@tilec.tunable(
    {
        "BM": powers(16, 256),
        "BN": powers(16, 256),
        "BK": powers(16, 128),
        "STAGES": range(2, 6),
        "warps": (2, 4, 8),
    },
    problem={"m": 4096, "n": 4096, "k": 4096},
    arguments={"a": "f16[m, k]", "b": "f16[k, n]", "c": "f32[m, n]"},
    grid="cdiv(n, BN), cdiv(m, BM)",
    where=[
        "BM * BN <= 32 * warps * 128",  # accumulators in registers
        "BM * BN >= 32 * warps * 8",
        "(BM + BN) * BK * 2 * STAGES <= 160 * 1024",  # stages in shared memory
    ],
)
@tilec.kernel(warps=8)
def gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
    STAGES: tl.Constant[int] = 3,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in tl.range(0, a.shape[1], BK, stages=STAGES):
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), tl.load(b, (k, col), (BK, BN)), acc)
    tl.store(c, (row, col), acc)
