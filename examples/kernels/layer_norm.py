"""Layer norm of each row: the program of layer_norm.mlir in Python."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def layer_norm(
    x: tl.Array[tl.float16, int, int],
    weight: tl.Array[tl.float16, int],
    bias: tl.Array[tl.float16, int],
    y: tl.Array[tl.float16, int, int],
    epsilon: float,
    BLOCK: tl.Constant[int] = 1024,
) -> None:
    row, cols = tl.program_id(0), x.shape[1]
    total, squares = tl.zeros(BLOCK), tl.zeros(BLOCK)
    for col in range(0, cols, BLOCK):
        value = tl.load(x, (row, col), BLOCK).astype(tl.float32)
        total, squares = total + value, tl.fma(value, value, squares)
    n = tl.float32(tl.int32(cols))
    mean = total.sum() / n
    scale = tl.rsqrt(squares.sum() / n - mean * mean + epsilon)
    for col in range(0, cols, BLOCK):
        centred = tl.load(x, (row, col), BLOCK).astype(tl.float32) - mean
        w = tl.load(weight, col, BLOCK).astype(tl.float32)
        b = tl.load(bias, col, BLOCK).astype(tl.float32)
        tl.store(y, (row, col), tl.fma(centred * scale, w, b).astype(tl.float16))


if __name__ == "__main__":
    random = np.random.default_rng(0)
    x = random.standard_normal((5, 1151)).astype(np.float16)
    weight, bias = random.standard_normal((2, 1151)).astype(np.float16)
    y = np.empty_like(x)
    layer_norm[x.shape[0]](x, weight, bias, y, 1e-5)
    wide = x.astype(np.float32)
    normal = (wide - wide.mean(axis=1, keepdims=True)) / np.sqrt(
        wide.var(axis=1, keepdims=True) + 1e-5
    )
    np.testing.assert_allclose(y, normal * weight + bias, rtol=2e-3, atol=2e-3)
