"""C = A·B of any element type: the programs of gemm_types.mlir, gemm_fp8.mlir and gemm_int8.mlir.

One kernel, compiled for the types of the arrays that it is called with.
"""

from typing import Any

import ml_dtypes
import numpy as np
import tilec
import tilec.lang as tl

Matrix = tl.Array[Any, int, int]


@tilec.kernel(warps=8)
def gemm(
    a: Matrix,
    b: Matrix,
    c: Matrix,
    TRANSPOSED: tl.Constant[bool] = False,  # B is NxK
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    held = tl.tfloat32 if a.dtype is tl.float32 else a.dtype
    acc = tl.zeros((BM, BN), c.dtype)
    for k in range(0, a.shape[1], BK):
        x = tl.load(a, (row, k), (BM, BK), dtype=held)
        if TRANSPOSED:
            y = tl.load(b, (col, k), (BN, BK), dtype=held).T
        else:
            y = tl.load(b, (k, col), (BK, BN), dtype=held)
        acc = tl.dot(x, y, acc)
    tl.store(c, (row, col), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    for dtype, result, target in (
        (ml_dtypes.bfloat16, np.float32, "sm_80"),
        (np.float32, np.float32, "sm_80"),
        (np.int8, np.int32, "sm_80"),
        (ml_dtypes.float8_e4m3fn, np.float32, "sm_89"),
    ):
        a, b = random.integers(-3, 4, (2, 64, 64)).astype(dtype)
        c = np.empty((64, 64), result)
        gemm.using(target=target)[1, 1](a, b, c, TRANSPOSED=True)
        np.testing.assert_array_equal(c, (a.astype(float) @ b.astype(float).T).astype(result))
