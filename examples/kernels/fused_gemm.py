"""C = gelu(A·B + bias): the program of fused_gemm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl


def gelu(v: tl.Tile) -> tl.Tile:
    return v * 0.5 * (tl.tanh(tl.fma(v**3, 0.044715, v) * 0.7978845608) + 1.0)


@tilec.kernel(warps=8)
def fused_gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    bias: tl.Array[tl.float16, int],
    c: tl.Array[tl.float16, int, int],
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], BK):
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), tl.load(b, (k, col), (BK, BN)), acc)
    acc = gelu(acc + tl.load(bias, col, BN).astype(tl.float32))
    tl.store(c, (row, col), acc.astype(tl.float16))


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = random.standard_normal((200, 72)).astype(np.float16)
    b = random.standard_normal((72, 150)).astype(np.float16)
    bias = random.standard_normal(150).astype(np.float16)
    c = np.empty((200, 150), np.float16)
    fused_gemm[tl.cdiv(150, 128), tl.cdiv(200, 128)](a, b, bias, c)
    v = a.astype(np.float32) @ b.astype(np.float32) + bias
    expected = v / 2 * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
    np.testing.assert_allclose(c, expected, rtol=2e-3, atol=1e-2)
