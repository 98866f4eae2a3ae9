"""Dropout whose mask is never stored: forward and backward draw the same numbers from a seed."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def dropout(
    x: tl.Array[tl.float32, int],
    y: tl.Array[tl.float32, int],
    p: float,
    seed: int,
    BLOCK: tl.Constant[int] = 1024,
) -> None:
    first = tl.program_id(0) * BLOCK
    kept = tl.rand(seed, tl.int32(first) + tl.arange(BLOCK)) >= p
    tl.store(y, first, tl.where(kept, tl.load(x, first, BLOCK) / (1.0 - p), 0.0))


def check(**settings: Any) -> None:
    """Run it forward and backward, and compare what is kept."""
    x = np.random.default_rng(0).uniform(1, 2, 5000).astype(np.float32)
    y, grad = np.empty_like(x), np.empty_like(x)
    run = dropout.using(**settings)[tl.cdiv(x.size, 1024)]
    run(x, y, 0.25, 123)
    run(np.ones_like(x), grad, 0.25, 123)
    np.testing.assert_array_equal(y != 0, grad != 0)
    np.testing.assert_allclose(y[y != 0], x[y != 0] / 0.75, rtol=1e-6)
    assert abs(np.count_nonzero(y == 0) / y.size - 0.25) < 0.03


if __name__ == "__main__":
    check()
