"""z = x + y: the smallest kernel."""

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def add(
    x: tl.Array[tl.float32, int],
    y: tl.Array[tl.float32, int],
    z: tl.Array[tl.float32, int],
    BLOCK: tl.Constant[int] = 1024,
) -> None:
    at = tl.program_id(0) * BLOCK
    tl.store(z, at, tl.load(x, at, BLOCK) + tl.load(y, at, BLOCK))


if __name__ == "__main__":
    x, y = np.random.default_rng(0).standard_normal((2, 5000)).astype(np.float32)
    z = np.empty_like(x)
    add[tl.cdiv(x.size, 1024)](x, y, z)
    np.testing.assert_array_equal(z, x + y)
