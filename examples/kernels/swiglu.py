"""silu(x·G) * (x·U): the gated half of a transformer's feed-forward layer, in one kernel."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Matrix = tl.Array[tl.float16, int, int]


@tilec.kernel
def swiglu(x: Matrix, gate: Matrix, up: Matrix, y: Matrix, BLOCK: tl.Constant[int] = 64) -> None:
    row, col = tl.program_id(1) * BLOCK, tl.program_id(0) * BLOCK
    gated, raised = tl.zeros((BLOCK, BLOCK)), tl.zeros((BLOCK, BLOCK))
    for k in range(0, x.shape[1], 32):
        held = tl.load(x, (row, k), (BLOCK, 32))
        gated = tl.dot(held, tl.load(gate, (k, col), (32, BLOCK)), gated)
        raised = tl.dot(held, tl.load(up, (k, col), (32, BLOCK)), raised)
    tl.store(y, (row, col), (gated * tl.sigmoid(gated) * raised).astype(tl.float16))


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    x = random.standard_normal((70, 48)).astype(np.float16)
    gate, up = (random.standard_normal((2, 48, 100)) / 7).astype(np.float16)
    y = np.empty((70, 100), np.float16)
    swiglu.using(**settings)[2, 2](x, gate, up, y)
    g, u = (x.astype(np.float64) @ one.astype(np.float64) for one in (gate, up))
    np.testing.assert_allclose(y, g / (1 + np.exp(-g)) * u, rtol=2e-3, atol=2e-3)


if __name__ == "__main__":
    check()
