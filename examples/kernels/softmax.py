"""Softmax of each row, which one CTA holds whole: the program of softmax.mlir in Python."""

import math

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def softmax(
    x: tl.Array[tl.float32, int, int],
    y: tl.Array[tl.float32, int, int],
    BLOCK: tl.Constant[int] = 1024,
) -> None:
    row = tl.program_id(0)
    held = tl.load(x, (row, 0), BLOCK, fill=-math.inf)
    powers = tl.exp(held - held.max())
    tl.store(y, (row, 0), powers / powers.sum())


if __name__ == "__main__":
    x = np.random.default_rng(0).standard_normal((7, 781)).astype(np.float32)
    y = np.empty_like(x)
    softmax[x.shape[0]](x, y, BLOCK=1024)
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(y, powers / powers.sum(axis=1, keepdims=True), rtol=1e-5)
