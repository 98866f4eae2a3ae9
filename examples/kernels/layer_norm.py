"""Layer norm of each row: (x - mean) / sqrt(variance + epsilon) · weight + bias."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def layer_norm(
    x: tl.Array[tl.float32, int, int],
    weight: tl.Array[tl.float32, int],
    bias: tl.Array[tl.float32, int],
    y: tl.Array[tl.float32, int, int],
    epsilon: float,
    BLOCK: tl.Constant[int],
) -> None:
    row, n = tl.program_id(0), x.shape[1]
    total = tl.zeros(BLOCK)
    for at in range(0, n, BLOCK):
        total += tl.load(x, (row, at), BLOCK)
    mean = total.sum() / n
    squares = tl.zeros(BLOCK)
    for at in range(0, n, BLOCK):
        centred = tl.load(x, (row, at), BLOCK) - mean
        squares += tl.where(at + tl.arange(BLOCK) < n, centred * centred, 0.0)
    scale = tl.rsqrt(squares.sum() / n + epsilon)
    for at in range(0, n, BLOCK):
        centred = tl.load(x, (row, at), BLOCK) - mean
        scaled = centred * scale * tl.load(weight, at, BLOCK) + tl.load(bias, at, BLOCK)
        tl.store(y, (row, at), scaled)


if __name__ == "__main__":
    random = np.random.default_rng(0)
    x = random.standard_normal((5, 1151)).astype(np.float32)
    weight, bias = random.standard_normal((2, 1151)).astype(np.float32)
    y = np.empty_like(x)
    layer_norm[x.shape[0]](x, weight, bias, y, 1e-5, BLOCK=512)
    centred = x - x.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt(x.var(axis=1, keepdims=True) + 1e-5) * weight + bias
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-5)
