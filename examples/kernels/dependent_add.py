"""Two kernels of which the second begins before the first has ended: programmatic dependent launch.

On a GPU what the second does before it waits, here a load of what the first does not write, is
done while the first still runs. From sm_90 on.
"""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Vector = tl.Array[tl.float32, int]


@tilec.kernel(target="sm_90")
def added(x: Vector, y: Vector, out: Vector, BLOCK: tl.Constant[int] = 256) -> None:
    at = tl.program_id(0) * BLOCK
    total = tl.load(x, at, BLOCK) + tl.load(y, at, BLOCK)
    tl.gdc_launch_dependents()  # the kernel behind may begin; it waits before it reads
    tl.store(out, at, total)


@tilec.kernel(target="sm_90")
def scaled(weight: Vector, total: Vector, out: Vector, BLOCK: tl.Constant[int] = 256) -> None:
    at = tl.program_id(0) * BLOCK
    held = tl.load(weight, at, BLOCK)
    tl.gdc_wait()  # what `added` stores is there behind it
    tl.store(out, at, held * tl.load(total, at, BLOCK))


def check(**settings: Any) -> None:
    """Run both, and compare with numpy."""
    x, y, weight = np.random.default_rng(0).standard_normal((3, 1000)).astype(np.float32)
    total, out = np.empty_like(x), np.empty_like(x)
    added.using(**settings)[4](x, y, total)
    scaled.using(**settings)[4](weight, total, out)
    np.testing.assert_array_equal(out, weight * (x + y))


if __name__ == "__main__":
    check()
