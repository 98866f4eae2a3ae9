"""C = A·B, for any M, N and K: the program of gemm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel(warps=8)
def gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], BK):
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), tl.load(b, (k, col), (BK, BN)), acc)
    tl.store(c, (row, col), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = random.standard_normal((200, 136)).astype(np.float16)
    b = random.standard_normal((136, 150)).astype(np.float16)
    c = np.empty((200, 150), np.float32)
    gemm[tl.cdiv(150, 128), tl.cdiv(200, 128)](a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
