"""How many numbers fall into each bin: one atomic update a number, at its bin."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def histogram(
    x: tl.Array[tl.float32, int],
    counts: tl.Array[tl.int32, int],
    low: float,
    width: float,
    BLOCK: tl.Constant[int] = 512,
) -> None:
    at = tl.program_id(0) * BLOCK
    bins = tl.floor((tl.load(x, at, BLOCK) - low) / width).astype(tl.int32)
    tl.atomic_add(counts, bins, 1, mask=at + tl.arange(BLOCK) < x.shape[0])


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    x = np.random.default_rng(0).integers(-20, 300, 2000).astype(np.float32)
    counts = np.zeros(16, np.int32)
    histogram.using(**settings)[tl.cdiv(x.size, 512)](x, counts, 0.0, 16.0)
    expected, _ = np.histogram(x, np.arange(17) * 16)
    expected[-1] -= np.count_nonzero(x == 256)  # numpy's last bin has its end
    np.testing.assert_array_equal(counts, expected)


if __name__ == "__main__":
    check()
