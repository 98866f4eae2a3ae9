"""Flash attention, forward, causal or not: attention.mlir and attention_128.mlir in Python."""

import math
from typing import Literal

import numpy as np
import tilec
import tilec.lang as tl

Heads = tl.Array[tl.float16, int, int, Literal[64, 128, 256]]


@tilec.kernel
def attention(
    q: Heads,
    k: Heads,
    v: Heads,
    o: Heads,
    scale: float,  # log2(e) / sqrt(d), more than 0
    CAUSAL: tl.Constant[bool] = False,
    WHOLE: tl.Constant[bool] = False,  # whether keys are a multiple of BN
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 64,
) -> None:
    head, row, keys, deep = tl.program_id(1), tl.program_id(0) * BM, k.shape[1], q.shape[2]
    query, number = tl.indices((BM, BN))
    queries = tl.load(q, (head, row, 0), (BM, deep))
    highest, total, acc = tl.full(BM, -math.inf), tl.zeros(BM), tl.zeros((BM, deep))
    for at in range(0, min(keys, row + BM) if CAUSAL else keys, BN):
        scores = tl.dot(queries, tl.load(k, (head, at, 0), (BN, deep)).T)
        key = number + tl.int32(at)
        if CAUSAL or not WHOLE:
            seen = key < tl.int32(keys)
            if CAUSAL:
                seen = seen & (key <= query + tl.int32(row))
            scores = tl.where(seen, scores, -math.inf)
        higher = tl.fmax(highest, tl.nanmax(scores, axis=1))
        powers = tl.exp2(tl.fma(scores, scale, (-(higher * scale))[:, None]), approx=True)
        shrunk = tl.exp2((highest - higher) * scale, approx=True)
        total = tl.fma(total, shrunk, powers.sum(axis=1))
        values = tl.load(v, (head, at, 0), (BN, deep))
        acc = tl.dot(powers.astype(tl.float16), values, acc * shrunk[:, None])
        highest = higher
    tl.store(o, (head, row, 0), (acc / total[:, None]).astype(tl.float16))


if __name__ == "__main__":
    random = np.random.default_rng(0)
    q, k, v = random.standard_normal((3, 2, 200, 64)).astype(np.float16)
    for causal in (False, True):
        o = np.empty_like(q)
        grid = tl.cdiv(q.shape[1], 128), q.shape[0]
        attention[grid](q, k, v, o, math.log2(math.e) / 8, CAUSAL=causal)
        scores = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) / 8
        if causal:
            scores = np.where(np.tri(200, dtype=bool), scores, -np.inf)
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        expected = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float32)
        np.testing.assert_allclose(o, expected, atol=5e-3)
