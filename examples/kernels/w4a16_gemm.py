"""C = A·W, weights of 4 bits in groups along K, with a scale and a zero point for each group."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl
from tilec.runtime import pack

Halves = tl.Array[tl.float16, int, int]
Codes = tl.Array[tl.uint4, int, int]
Bytes = tl.Array[tl.uint8, int, int]


@tilec.function
def load_weights(
    w: Codes, scales: Halves, zeros: Bytes, col: int, k: int, shape: tuple[int, int]
) -> tl.Tile:
    """Weights of a group along K, as float16."""
    group = k // shape[1]
    scale = tl.load(scales, (col, group), (shape[0], 1))
    zero = tl.load(zeros, (col, group), (shape[0], 1)).astype(tl.float16)
    return (tl.load(w, (col, k), shape).astype(tl.float16) - zero) * scale


@tilec.kernel
def w4a16_gemm(
    a: Halves,
    w: Codes,  # NxK
    scales: Halves,  # NxK/GROUP
    zeros: Bytes,
    c: Halves,
    GROUP: tl.Constant[int] = 64,
    BM: tl.Constant[int] = 16,
    BN: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], GROUP):
        weights = load_weights(w, scales, zeros, col, k, (BN, GROUP))
        acc = tl.dot(tl.load(a, (row, k), (BM, GROUP)), weights.T, acc)
    tl.store(c, (row, col), acc.astype(tl.float16))


@tilec.kernel
def w4a16_gemm_by_weights(
    a: Halves,
    w: Codes,
    scales: Halves,
    zeros: Bytes,
    c: Halves,
    GROUP: tl.Constant[int] = 64,
    BM: tl.Constant[int] = 16,
    BN: tl.Constant[int] = 64,
) -> None:
    """The same by the product of the transposes: on sm_90a weights come from registers."""
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BN, BM))
    for k in range(0, a.shape[1], GROUP):
        weights = load_weights(w, scales, zeros, col, k, (BN, GROUP))
        acc = tl.dot(weights, tl.load(a, (row, k), (BM, GROUP)).T, acc)
    tl.store(c, (row, col), acc.astype(tl.float16).T)


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    m, n, k, group = 20, 70, 256, 64
    a = random.standard_normal((m, k)).astype(np.float16)
    codes, zeros = random.integers(0, 16, (n, k)), random.integers(0, 16, (n, k // group))
    scales = random.uniform(0.01, 0.1, (n, k // group)).astype(np.float16)
    c = np.empty((m, n), np.float16)
    grid = tl.cdiv(n, 64), tl.cdiv(m, 16)
    shift, factor = (np.repeat(one.astype(float), group, 1) for one in (zeros, scales))
    expected = a.astype(float) @ ((codes - shift) * factor).T
    for kernel in (w4a16_gemm, w4a16_gemm_by_weights):
        c[...] = np.nan
        kernel.using(**settings)[grid](a, pack(codes, "u4"), scales, zeros.astype(np.uint8), c)
        np.testing.assert_allclose(c, expected, rtol=5e-3, atol=5e-2)


if __name__ == "__main__":
    check()
