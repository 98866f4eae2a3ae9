"""Flash attention of sequences of many lengths behind each other; heads share keys and values."""

import itertools
import math
from typing import Any, Literal

import numpy as np
import tilec
import tilec.lang as tl

Heads = tl.Array[tl.float16, int, int, Literal[64, 128, 256]]


@tilec.kernel
def varlen_attention(
    q: Heads,  # heads, places of all sequences, d
    k: Heads,
    v: Heads,
    o: Heads,
    starts: tl.Array[tl.int32, int],  # where each sequence begins, and the end of the last
    scale: float,  # log2(e) / sqrt(d), more than 0
    SHARED: tl.Constant[int] = 1,  # heads of queries that share one of keys
    CAUSAL: tl.Constant[bool] = False,
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 64,
) -> None:
    """A CTA along x for each block of the longest sequence; along y heads, along z sequences."""
    head, deep = tl.program_id(1), q.shape[2]
    first = tl.load(starts, (tl.program_id(2),), ())
    length = tl.load(starts, (tl.program_id(2) + 1,), ()) - first
    row = tl.program_id(0) * BM
    if row < length:
        query, number = tl.indices((BM, BN))
        queries = tl.load(q, (head, first + row, 0), (BM, deep))
        highest, total, acc = tl.full(BM, -math.inf), tl.zeros(BM), tl.zeros((BM, deep))
        for at in range(0, min(length, row + BM) if CAUSAL else length, BN):
            keys = tl.load(k, (head // SHARED, first + at, 0), (BN, deep))
            key = number + tl.int32(at)
            seen = key < tl.int32(length)
            if CAUSAL:
                seen = seen & (key <= query + tl.int32(row))
            scores = tl.where(seen, tl.dot(queries, keys.T), -math.inf)
            higher = tl.fmax(highest, tl.nanmax(scores, axis=1))
            powers = tl.exp2(tl.fma(scores, scale, (-(higher * scale))[:, None]), approx=True)
            shrunk = tl.exp2((highest - higher) * scale, approx=True)
            total = tl.fma(total, shrunk, powers.sum(axis=1))
            values = tl.load(v, (head // SHARED, first + at, 0), (BN, deep))
            acc = tl.dot(powers.astype(tl.float16), values, acc * shrunk[:, None])
            highest = higher
        result = (acc / total[:, None]).astype(tl.float16)
        here = tl.arange(BM) + tl.int32(row) < tl.int32(length)
        tl.store(o, (head, first + row, 0), result, mask=here[:, None])


def check(**settings: Any) -> None:
    """Run it, and compare with numpy."""
    random = np.random.default_rng(0)
    lengths, heads, shared = [40, 150], 4, 2
    starts = np.cumsum([0, *lengths]).astype(np.int32)
    q = random.standard_normal((heads, starts[-1], 64)).astype(np.float16)
    k, v = random.standard_normal((2, heads // shared, starts[-1], 64)).astype(np.float16)
    o = np.empty_like(q)
    grid = tl.cdiv(max(lengths), 128), heads, len(lengths)
    kernel = varlen_attention.using(**settings)
    kernel[grid](q, k, v, o, starts, math.log2(math.e) / 8, SHARED=shared)
    for first, end in itertools.pairwise(starts):
        for head in range(heads):
            x, y, z = q[head, first:end], k[head // shared, first:end], v[head // shared, first:end]
            scores = x.astype(np.float32) @ y.astype(np.float32).T / 8
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            expected = powers / powers.sum(axis=1, keepdims=True) @ z.astype(np.float32)
            np.testing.assert_allclose(o[head, first:end], expected, atol=5e-3)


if __name__ == "__main__":
    check()
