"""Convolution as an implicit GEMM: the program of conv.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def conv(
    image: tl.Array[tl.float16, int, int, int, int],  # N, H, W, C
    filters: tl.Array[tl.float16, int, int, int, int],  # R, S, C, K
    result: tl.Array[tl.float32, int, int, int, int],  # N, P, Q, K
    pad: int,
    BLOCK: tl.Constant[int] = 64,
) -> None:
    k, q = tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK
    rows = max(result.shape[1], 1)
    n, p = divmod(tl.program_id(2), rows)
    top, left = p - pad, q - pad
    acc = tl.zeros((BLOCK, BLOCK))
    for r in range(filters.shape[0]):
        for s in range(filters.shape[1]):
            for c in range(0, image.shape[3], BLOCK):
                pixels = tl.load(image, (n, top + r, left + s, c), (BLOCK, BLOCK))
                weights = tl.load(filters, (r, s, c, k), (BLOCK, BLOCK))
                acc = tl.dot(pixels, weights, acc)
    tl.store(result, (n, p, q, k), acc)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    image = random.standard_normal((1, 5, 9, 24)).astype(np.float16)
    filters = random.standard_normal((3, 3, 24, 40)).astype(np.float16)
    result = np.empty((1, 5, 9, 40), np.float32)
    conv[1, 1, 5](image, filters, result, 1)
    padded = np.pad(image, ((0, 0), (1, 1), (1, 1), (0, 0))).astype(np.float32)
    taps = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2))
    expected = np.einsum("npqcrs,rsck->npqk", taps, filters.astype(np.float32))
    np.testing.assert_allclose(result, expected, atol=1e-2)
