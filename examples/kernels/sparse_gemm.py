"""C = A·B with a 2:4 sparse A: the program of sparse_gemm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl
from tilec.isa import Mma, form
from tilec.runtime import compress, pack, prune

FORM = form("mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
assert isinstance(FORM, Mma)


@tilec.kernel(warps=8)
def sparse_gemm(
    a: tl.Array[tl.float16, int, int],
    metadata: tl.Array[tl.int4, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 128,
    BK: tl.Constant[int] = 64,
) -> None:
    row, col = tl.program_id(1) * BM, tl.program_id(0) * BN
    acc = tl.zeros((BM, BN))
    for k in range(0, b.shape[0], BK):
        stored = tl.load(a, (row, k // 2), (BM, BK // 2))
        codes = tl.load(metadata, (row, k // 4), (BM, BK // 4))
        acc = tl.dot_sp(stored, codes, tl.load(b, (k, col), (BK, BN)), acc)
    tl.store(c, (row, col), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    a = prune(FORM, random.standard_normal((200, 136)).astype(np.float16))
    b = random.standard_normal((136, 150)).astype(np.float16)
    c = np.empty((200, 150), np.float32)
    stored, codes = compress(FORM, a)
    sparse_gemm[tl.cdiv(150, 128), tl.cdiv(200, 128)](stored, pack(codes, "b4"), b, c)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), atol=1e-2)
