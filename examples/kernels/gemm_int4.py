"""C = A·(W·scale)ᵀ, weights of 4 bits with a scale for each column: gemm_int4.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl
from tilec.runtime import pack


@tilec.kernel
def gemm_int4(
    a: tl.Array[tl.float16, int, int],
    w: tl.Array[tl.int4, int, int],
    scale: tl.Array[tl.float16, int],
    c: tl.Array[tl.float16, int, int],
    BM: tl.Constant[int] = 64,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], BK):
        weights = tl.load(w, (col, k), (BN, BK)).T.astype(tl.float16)
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), weights, acc)
    acc = acc * tl.load(scale, col, BN).astype(tl.float32)
    tl.store(c, (row, col), acc.astype(tl.float16))


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = random.standard_normal((70, 64)).astype(np.float16)
    w, scale = random.integers(-8, 8, (130, 64)), np.full(130, 0.25, np.float16)
    c = np.empty((70, 130), np.float16)
    gemm_int4[tl.cdiv(130, 128), tl.cdiv(70, 64)](a, pack(w, "s4"), scale, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ w.T * 0.25, rtol=2e-3, atol=2e-2)
