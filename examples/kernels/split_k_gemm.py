"""C += A·B, each CTA a part of K: the program of split_k_gemm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel(warps=8)
def split_k_gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    part: tl.Size,
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    deep = part // BK * BK
    first = tl.program_id(2) * deep
    acc = tl.zeros((BM, BN))
    for k in range(first, min(first + deep, a.shape[1]), BK):
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), tl.load(b, (k, col), (BK, BN)), acc)
    tl.atomic_add(c, (row, col), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = random.standard_normal((130, 300)).astype(np.float16)
    b = random.standard_normal((300, 77)).astype(np.float16)
    c = np.zeros((130, 77), np.float32)
    split_k_gemm[1, 2, 3](a, b, c, 128)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
