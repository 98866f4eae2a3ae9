"""C = A·Bᵀ of float8: scales for 128 elements of a row of A, and for blocks of 128x128 of B."""

from typing import Any

import ml_dtypes
import numpy as np
import tilec
import tilec.lang as tl

Float8 = tl.Array[tl.float8_e4m3fn, int, int]
Scales = tl.Array[tl.float32, int, int]


@tilec.kernel(target="sm_89")
def fp8_block_gemm(
    a: Float8,  # MxK
    b: Float8,  # NxK
    scale_a: Scales,  # MxK/128
    scale_b: Scales,  # N/128xK/128
    c: tl.Array[tl.bfloat16, int, int],
    BM: tl.Constant[int] = 64,
    BN: tl.Constant[int] = 128,
) -> None:
    """What a block of K adds is scaled before it is added, in float32."""
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], 128):
        part = tl.dot(tl.load(a, (row, k), (BM, 128)), tl.load(b, (col, k), (BN, 128)).T)
        of_rows = tl.load(scale_a, (row, k // 128), (BM, 1))
        acc += part * (of_rows * tl.load(scale_b, (col // 128, k // 128), ()))
    tl.store(c, (row, col), acc.astype(tl.bfloat16))


def check(**settings: Any) -> None:
    """Run it, and compare with numpy; float8 is there from sm_89 on."""
    random = np.random.default_rng(0)
    m, n, k = 70, 130, 256
    a = random.standard_normal((m, k)).astype(ml_dtypes.float8_e4m3fn)
    b = random.standard_normal((n, k)).astype(ml_dtypes.float8_e4m3fn)
    scale_a = random.uniform(0.5, 2, (m, k // 128)).astype(np.float32)
    scale_b = random.uniform(0.5, 2, (tl.cdiv(n, 128), k // 128)).astype(np.float32)
    c = np.empty((m, n), ml_dtypes.bfloat16)
    fp8_block_gemm.using(**settings)[2, 2](a, b, scale_a, scale_b, c)
    of_a = np.repeat(scale_a, 128, 1)
    of_b = np.repeat(np.repeat(scale_b, 128, 1), 128, 0)[:n]
    expected = (a.astype(float) * of_a) @ (b.astype(float) * of_b).T
    np.testing.assert_allclose(c.astype(float), expected, rtol=1e-2, atol=2e-1)


if __name__ == "__main__":
    check()
