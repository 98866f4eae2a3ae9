"""C = A·B of mxf8, a scale for each 32 elements along K: scaled_gemm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl
from tilec.runtime import dequantize, quantize

Bytes = tl.Array[tl.uint8, int, int]


@tilec.kernel(warps=8, target="sm_120a")
def scaled_gemm(
    a: Bytes,
    b: Bytes,
    scale_a: Bytes,
    scale_b: Bytes,
    c: tl.Array[tl.float32, int, int],
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 128,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, a.shape[1], BK):
        x = tl.load(a, (row, k), (BM, BK), dtype=tl.float8_e4m3fn)
        y = tl.load(b, (col, k), (BN, BK), dtype=tl.float8_e4m3fn).T
        p = tl.load(scale_a, (row, k // 32), (BM, BK // 32), dtype=tl.float8_e8m0fnu)
        q = tl.load(scale_b, (col, k // 32), (BN, BK // 32), dtype=tl.float8_e8m0fnu).T
        acc = tl.dot_scaled(x, p, y, q, acc)
    tl.store(c, (row, col), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a, b = (quantize(random.standard_normal((n, 96)), "e4m3", "ue8m0", 32) for n in (130, 70))
    c = np.empty((130, 70), np.float32)
    held = [m.view(np.uint8) for m in (a.elements, b.elements, a.scales, b.scales)]
    scaled_gemm[tl.cdiv(70, 128), tl.cdiv(130, 128)](*held, c)
    np.testing.assert_allclose(c, dequantize(a) @ dequantize(b).T, rtol=1e-4, atol=1e-4)
