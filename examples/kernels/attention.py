"""Flash attention, forward: softmax(Q·Kᵀ / sqrt(D))·V, causal or not, keys a block at a time."""

import math

import numpy as np
import tilec
import tilec.lang as tl


@tilec.kernel
def attention(
    q: tl.Array[tl.float16, int, int, int],
    k: tl.Array[tl.float16, int, int, int],
    v: tl.Array[tl.float16, int, int, int],
    o: tl.Array[tl.float16, int, int, int],
    scale: float,
    CAUSAL: tl.Constant[bool],
    D: tl.Constant[int] = 64,
    BM: tl.Constant[int] = 128,
    BN: tl.Constant[int] = 64,
) -> None:
    head, row, keys = tl.program_id(1), tl.program_id(0) * BM, k.shape[1]
    queries = tl.load(q, (head, row, 0), (BM, D))
    highest = tl.full(BM, -math.inf)
    total = tl.zeros(BM)
    acc = tl.zeros((BM, D))
    for col in range(0, min(row + BM, keys) if CAUSAL else keys, BN):
        scores = tl.dot(queries, tl.load(k, (head, col, 0), (BN, D)).T)
        places = col + tl.arange(BN)
        seen = (places < keys)[None, :]
        if CAUSAL:
            seen = seen & (row + tl.arange(BM)[:, None] >= places[None, :])
        scores = tl.where(seen, scores * (scale * math.log2(math.e)), -math.inf)
        higher = tl.maximum(highest, scores.max(axis=1))
        powers = tl.exp2(scores - higher[:, None])
        shrunk = tl.exp2(highest - higher)
        total = total * shrunk + powers.sum(axis=1)
        values = tl.load(v, (head, col, 0), (BN, D))
        acc = tl.dot(powers.astype(tl.float16), values, acc * shrunk[:, None])
        highest = higher
    tl.store(o, (head, row, 0), (acc / total[:, None]).astype(tl.float16))


if __name__ == "__main__":
    random = np.random.default_rng(0)
    q, k, v = random.standard_normal((3, 2, 200, 64)).astype(np.float16)
    for causal in (False, True):
        o = np.empty_like(q)
        attention[tl.cdiv(q.shape[1], 128), q.shape[0]](q, k, v, o, 0.125, CAUSAL=causal)
        scores = q.astype(np.float32) @ k.astype(np.float32).swapaxes(1, 2) * 0.125
        if causal:
            scores = np.where(np.tri(200, dtype=bool), scores, -np.inf)
        powers = np.exp(scores - scores.max(axis=2, keepdims=True))
        expected = powers / powers.sum(axis=2, keepdims=True) @ v.astype(np.float32)
        np.testing.assert_allclose(o, expected, atol=5e-3)
