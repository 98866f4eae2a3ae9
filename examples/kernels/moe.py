"""A mixture of experts: tokens gathered by expert, multiplied, and scattered with their weights."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def experts(
    x: tl.Array[tl.float16, int, int],
    weights: tl.Array[tl.float16, int, int, int],
    order: tl.Array[tl.int32, int],
    starts: tl.Array[tl.int32, int],
    shares: tl.Array[tl.float32, int],
    y: tl.Array[tl.float32, int, int],
    TOP: tl.Constant[int],
    BLOCK: tl.Constant[int] = 32,
) -> None:
    """`order` has the slots (token * TOP + choice) of each expert, one expert after the other."""
    expert, col = tl.program_id(1), tl.program_id(0) * BLOCK
    first, end = tl.load(starts, expert, ()), tl.load(starts, expert + 1, ())
    for at in range(first.astype(tl.int64), end, BLOCK):
        inside = at + tl.arange(BLOCK) < end
        slot = tl.load(order, at, BLOCK)
        acc = tl.zeros((BLOCK, BLOCK))
        for k in range(0, x.shape[1], BLOCK):
            held = tl.load(x, (slot // TOP, k), (BLOCK, BLOCK), mask=inside[:, None])
            acc = tl.dot(held, tl.load(weights, (expert, k, col), (BLOCK, BLOCK)), acc)
        share = tl.load(shares, slot, BLOCK, mask=inside)
        tl.atomic_add(y, (slot // TOP, col), acc * share[:, None], mask=inside[:, None])


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    tokens, top, count = 45, 2, 4
    x = random.integers(-3, 4, (tokens, 64)).astype(np.float16)
    weights = random.integers(-3, 4, (count, 64, 40)).astype(np.float16)
    chosen = np.stack([random.permutation(count)[:top] for _ in range(tokens)])
    shares = random.integers(1, 5, tokens * top).astype(np.float32) / 4
    order = np.argsort(chosen.ravel(), kind="stable").astype(np.int32)
    sizes = np.bincount(chosen.ravel(), minlength=count)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    y = np.zeros((tokens, 40), np.float32)
    experts.using(**settings)[2, count](x, weights, order, starts, shares, y, TOP=top)
    products = np.einsum("td,tcdn->tcn", x.astype(float), weights.astype(float)[chosen])
    np.testing.assert_allclose(y, (products * shares.reshape(tokens, top, 1)).sum(1), rtol=1e-5)


if __name__ == "__main__":
    check()
