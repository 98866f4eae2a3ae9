"""C[i] = A[i]·B[i]: the program of batched_gemm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def batched_gemm(
    a: tl.Array[tl.float16, int, int, int],
    b: tl.Array[tl.float16, int, int, int],
    c: tl.Array[tl.float32, int, int, int],
    BLOCK: tl.Constant[int] = 64,
) -> None:
    i, row, col = tl.program_id(2), tl.program_id(1) * BLOCK, tl.program_id(0) * BLOCK
    acc = tl.zeros((BLOCK, BLOCK))
    for k in range(0, a.shape[2], BLOCK):
        x = tl.load(a, (i, row, k), (BLOCK, BLOCK))
        acc = tl.dot(x, tl.load(b, (i, k, col), (BLOCK, BLOCK)), acc)
    tl.store(c, (i, row, col), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = random.standard_normal((3, 70, 40)).astype(np.float16)
    b = random.standard_normal((3, 40, 50)).astype(np.float16)
    c = np.empty((3, 70, 50), np.float32)
    batched_gemm[1, 2, 3](a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
