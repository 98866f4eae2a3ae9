"""Prefix sums of a long array, in two launches: of blocks, then up to each element."""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def block_sums(
    x: tl.Array[tl.int32, int], sums: tl.Array[tl.int32, int], BLOCK: tl.Constant[int]
) -> None:
    block = tl.program_id(0)
    tl.store(sums, block, tl.load(x, block * BLOCK, BLOCK).sum())


@tilec.kernel
def prefix_sum(
    x: tl.Array[tl.int32, int],
    sums: tl.Array[tl.int32, int],
    y: tl.Array[tl.int32, int],
    BLOCK: tl.Constant[int],
    BLOCKS: tl.Constant[int],
) -> None:
    block = tl.program_id(0)
    before = tl.load(sums, 0, BLOCKS, mask=tl.arange(BLOCKS) < block).sum()
    tl.store(y, block * BLOCK, before + tl.cumsum(tl.load(x, block * BLOCK, BLOCK)))


def check(**settings: Any) -> None:
    """Run both, and compare with numpy."""
    x = np.random.default_rng(0).integers(-99, 100, 3000).astype(np.int32)
    block = 512
    blocks = tl.cdiv(x.size, block)
    sums, y = np.zeros(blocks, np.int32), np.empty_like(x)
    block_sums.using(**settings)[blocks](x, sums, BLOCK=block)
    prefix_sum.using(**settings)[blocks](x, sums, y, BLOCK=block, BLOCKS=64)
    np.testing.assert_array_equal(y, np.cumsum(x))


if __name__ == "__main__":
    check()
