"""D = activation(A·B + bias), its CTAs in groups of rows that share what L2 holds of B."""

import numpy as np
import tilec
import tilec.lang as tl


def relu(x: tl.Tile) -> tl.Tile:
    return tl.maximum(x, 0.0)


def gelu(x: tl.Tile) -> tl.Tile:
    return 0.5 * x * (1.0 + tl.tanh(0.7978845608 * (x + 0.044715 * x**3)))


ACTIVATIONS = (relu, gelu)


@tilec.kernel(warps=8)
def fused_gemm(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    bias: tl.Array[tl.float32, int],
    d: tl.Array[tl.float16, int, int],
    ACTIVATION: tl.Constant[int],
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
    GROUP: tl.Constant[int] = 8,
) -> None:
    rows, cols = tl.cdiv(a.shape[0], BM), tl.cdiv(b.shape[1], BN)
    group, place = tl.program_id(0) // (GROUP * cols), tl.program_id(0) % (GROUP * cols)
    high = min(rows - group * GROUP, GROUP)
    row, col = (group * GROUP + place % high) * BM, (place // high) * BN

    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], BK):
        acc = tl.dot(tl.load(a, (row, k), (BM, BK)), tl.load(b, (k, col), (BK, BN)), acc)
    acc = ACTIVATIONS[ACTIVATION](acc + tl.load(bias, col, BN))
    tl.store(d, (row, col), acc.astype(tl.float16))


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = random.standard_normal((200, 72)).astype(np.float16)
    b = random.standard_normal((72, 150)).astype(np.float16)
    bias = random.standard_normal(150).astype(np.float32)
    d = np.empty((200, 150), np.float16)
    fused_gemm[tl.cdiv(200, 128) * tl.cdiv(150, 128)](a, b, bias, d, ACTIVATION=0)
    expected = np.maximum(a.astype(np.float32) @ b.astype(np.float32) + bias, 0)
    np.testing.assert_allclose(d, expected, rtol=2e-3, atol=1e-2)
