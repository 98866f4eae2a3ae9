"""Cross-entropy of rows of logits and its gradient, in one pass over rows of any length."""

import math
from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def cross_entropy(
    logits: tl.Array[tl.float32, int, int],
    labels: tl.Array[tl.int64, int],
    loss: tl.Array[tl.float32, int],
    grad: tl.Array[tl.float32, int, int] | None,
    ignored: int = -100,
    BLOCK: tl.Constant[int] = 128,
) -> None:
    row = tl.program_id(0)
    label = tl.load(labels, row, ())
    if label == ignored:
        tl.store(loss, row, tl.zeros(1))
        if grad is not None:
            for col in range(0, logits.shape[1], BLOCK):
                tl.store(grad, (row, col), tl.zeros(BLOCK))
        return
    most, total = tl.float32(-math.inf), tl.float32(0.0)
    for col in range(0, logits.shape[1], BLOCK):
        held = tl.load(logits, (row, col), BLOCK, fill=-math.inf)
        new = tl.maximum(held.max(), most)
        total = total * tl.exp(most - new) + tl.exp(held - new).sum()
        most = new
    scale = most + tl.log(total)
    tl.store(loss, row, (scale - tl.load(logits, (row, label), ())).reshape(1))
    if grad is not None:
        for col in range(0, logits.shape[1], BLOCK):
            chosen = tl.arange(BLOCK).astype(tl.int64) + col == label
            power = tl.exp(tl.load(logits, (row, col), BLOCK) - scale)
            tl.store(grad, (row, col), power - chosen.astype(tl.float32))


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    logits = (random.standard_normal((6, 300)) * 9).astype(np.float32)
    labels = random.integers(0, 300, 6)
    labels[2] = -100
    loss, grad = np.full(6, np.nan, np.float32), np.full_like(logits, np.nan)
    run = cross_entropy.using(**settings)[6]
    run(logits, labels, loss, grad)
    powers = np.exp(logits.astype(np.float64) - logits.max(1, keepdims=True))
    shares, kept = powers / powers.sum(1, keepdims=True), labels >= 0
    expected = np.where(kept, -np.log(shares[np.arange(6), labels]), 0)
    shares[np.arange(6), labels] -= 1
    np.testing.assert_allclose(loss, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(grad, shares * kept[:, None], rtol=1e-4, atol=1e-6)
    loss[:] = np.nan
    run(logits, labels, loss, None)
    np.testing.assert_allclose(loss, expected, rtol=1e-5, atol=1e-5)


if __name__ == "__main__":
    check()
