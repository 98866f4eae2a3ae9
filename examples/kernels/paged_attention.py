"""Attention of one new token each to keys and values in pages that a table finds."""

import math
from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Pages = tl.Array[tl.float16, int, int, int]


@tilec.kernel
def paged_attention(
    q: tl.Array[tl.float32, int, int],
    keys: Pages,
    values: Pages,
    table: tl.Array[tl.int32, int, int],
    lengths: tl.Array[tl.int32, int],
    out: tl.Array[tl.float32, int, int],
    PAGE: tl.Constant[int],
    SIZE: tl.Constant[int],
    BLOCK: tl.Constant[int] = 32,
) -> None:
    """Of one sequence; each turn of the loop takes tokens of several pages."""
    sequence = tl.program_id(0)
    length = tl.load(lengths, sequence, ())
    query = tl.load(q, (sequence, 0), SIZE) * (1 / math.sqrt(SIZE))
    acc, total, most = tl.zeros(SIZE), 0.0, -1e30
    for first in range(0, length, BLOCK):
        token = tl.int32(first) + tl.arange(BLOCK)
        inside = token < length
        page = tl.load(table, (sequence, token // PAGE), BLOCK, mask=inside)
        place = (page[:, None], (token % PAGE)[:, None], 0)
        shape = (BLOCK, SIZE)
        held = tl.load(keys, place, shape, mask=inside[:, None]).astype(tl.float32)
        scores = tl.where(inside, (held * query[None, :]).sum(axis=1), -1e30)
        new = tl.maximum(scores.max(), most)
        powers, scale = tl.exp(scores - new), tl.exp(most - new)
        held = tl.load(values, place, shape, mask=inside[:, None]).astype(tl.float32)
        acc = acc * scale + (held * powers[:, None]).sum(axis=0)
        total, most = total * scale + powers.sum(), new
    tl.store(out, (sequence, 0), acc / total)


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    page, size, lengths = 8, 64, np.array([5, 70, 33], np.int32)
    keys, values = random.standard_normal((2, 40, page, size)).astype(np.float16)
    table = random.permutation(40)[:27].reshape(3, 9).astype(np.int32)
    q = random.standard_normal((3, size)).astype(np.float32)
    out = np.empty_like(q)
    run = paged_attention.using(**settings)[3]
    run(q, keys, values, table, lengths, out, PAGE=page, SIZE=size)
    for row, length in enumerate(lengths):
        k, v = (one[table[row]].reshape(-1, size)[:length].astype(float) for one in (keys, values))
        powers = np.exp(k @ q[row] / 8)
        np.testing.assert_allclose(out[row], powers @ v / powers.sum(), rtol=1e-4, atol=1e-4)


if __name__ == "__main__":
    check()
