"""The gradients of attention, of q, k and v, from its result and the logarithms of its sums."""

import math
from typing import Any, Literal

import numpy as np
import tilec
import tilec.lang as tl

Heads = tl.Array[tl.float16, int, int, Literal[64, 128]]
Rows = tl.Array[tl.float32, int, int]


@tilec.kernel
def delta_of_rows(o: Heads, do: Heads, delta: Rows, BM: tl.Constant[int] = 64) -> None:
    """The sum of o · do of each row."""
    head, row = tl.program_id(1), tl.program_id(0) * BM
    held = tl.load(o, (head, row, 0), (BM, o.shape[2])).astype(tl.float32)
    grad = tl.load(do, (head, row, 0), (BM, o.shape[2])).astype(tl.float32)
    tl.store(delta, (head, row), (held * grad).sum(axis=1))


@tilec.kernel
def gradients_of_keys(
    q: Heads,
    k: Heads,
    v: Heads,
    do: Heads,
    sums: Rows,  # log2 of the sum of each row's powers
    delta: Rows,
    dk: Heads,
    dv: Heads,
    scale: float,  # 1 / sqrt(d)
    CAUSAL: tl.Constant[bool],
    BM: tl.Constant[int] = 32,
    BN: tl.Constant[int] = 64,
) -> None:
    """Of a block of keys and values: every block of queries that sees them."""
    head, col, rows, deep = tl.program_id(1), tl.program_id(0) * BN, q.shape[1], q.shape[2]
    keys, values = tl.load(k, (head, col, 0), (BN, deep)), tl.load(v, (head, col, 0), (BN, deep))
    number, query = tl.indices((BN, BM))
    of_keys, of_values = tl.zeros((BN, deep)), tl.zeros((BN, deep))
    for at in range(col // BM * BM if CAUSAL else 0, rows, BM):
        queries, grad = (
            tl.load(q, (head, at, 0), (BM, deep)),
            tl.load(do, (head, at, 0), (BM, deep)),
        )
        scores = tl.dot(keys, queries.T) * (scale * math.log2(math.e))
        seen = query + tl.int32(at) < tl.int32(rows)
        if CAUSAL:
            seen = seen & (number + tl.int32(col) <= query + tl.int32(at))
        powers = tl.exp2(scores - tl.load(sums, (head, at), BM)[None, :])
        powers = tl.where(seen, powers, 0.0)
        of_values = tl.dot(powers.astype(tl.float16), grad, of_values)
        of_powers = tl.dot(values, grad.T) - tl.load(delta, (head, at), BM)[None, :]
        of_keys = tl.dot((powers * of_powers).astype(tl.float16), queries, of_keys)
    tl.store(dk, (head, col, 0), (of_keys * scale).astype(tl.float16))
    tl.store(dv, (head, col, 0), of_values.astype(tl.float16))


@tilec.kernel
def gradient_of_queries(
    q: Heads,
    k: Heads,
    v: Heads,
    do: Heads,
    sums: Rows,
    delta: Rows,
    dq: Heads,
    scale: float,
    CAUSAL: tl.Constant[bool],
    BM: tl.Constant[int] = 64,
    BN: tl.Constant[int] = 32,
) -> None:
    """Of a block of queries: every block of keys that it sees."""
    head, row, cols, deep = tl.program_id(1), tl.program_id(0) * BM, k.shape[1], q.shape[2]
    queries, grad = tl.load(q, (head, row, 0), (BM, deep)), tl.load(do, (head, row, 0), (BM, deep))
    of_rows, delta_of = tl.load(sums, (head, row), BM), tl.load(delta, (head, row), BM)
    query, number = tl.indices((BM, BN))
    of_queries = tl.zeros((BM, deep))
    for at in range(0, min(cols, row + BM) if CAUSAL else cols, BN):
        keys, values = tl.load(k, (head, at, 0), (BN, deep)), tl.load(v, (head, at, 0), (BN, deep))
        scores = tl.dot(queries, keys.T) * (scale * math.log2(math.e))
        seen = number + tl.int32(at) < tl.int32(cols)
        if CAUSAL:
            seen = seen & (number + tl.int32(at) <= query + tl.int32(row))
        powers = tl.where(seen, tl.exp2(scores - of_rows[:, None]), 0.0)
        of_powers = tl.dot(grad, values.T) - delta_of[:, None]
        of_queries = tl.dot((powers * of_powers).astype(tl.float16), keys, of_queries)
    tl.store(dq, (head, row, 0), (of_queries * scale).astype(tl.float16))


def check(**settings: Any) -> None:
    """Run them, causal and not, and compare with numpy."""
    random = np.random.default_rng(0)
    count, deep = 100, 64
    q, k, v, do = random.standard_normal((4, 2, count, deep)).astype(np.float16)
    for causal in (False, True):
        o, sums, expected = reference(q, k, v, do, causal=causal)
        dq, dk, dv = (np.empty_like(q) for _ in range(3))
        delta = np.empty_like(sums)
        grid = tl.cdiv(count, 64), 2
        delta_of_rows.using(**settings)[grid](o, do, delta)
        given = (q, k, v, do, sums, delta)
        gradients_of_keys.using(**settings)[grid](*given, dk, dv, deep**-0.5, CAUSAL=causal)
        gradient_of_queries.using(**settings)[grid](*given, dq, deep**-0.5, CAUSAL=causal)
        for found, one in zip((dq, dk, dv), expected, strict=True):
            np.testing.assert_allclose(found, one, rtol=1e-2, atol=1e-2)


def reference(q: Any, k: Any, v: Any, do: Any, *, causal: bool) -> Any:
    """The result, the sums' logarithms, and the three gradients, in doubles."""
    q, k, v, do = (one.astype(float) for one in (q, k, v, do))
    scale = q.shape[2] ** -0.5
    scores = q @ k.swapaxes(1, 2) * scale
    if causal:
        scores = np.where(np.tri(q.shape[1], dtype=bool), scores, -np.inf)
    sums = np.exp(scores).sum(2, keepdims=True)
    powers = np.exp(scores) / sums
    o, of_powers = powers @ v, do @ v.swapaxes(1, 2)
    of_scores = powers * (of_powers - (do * (powers @ v)).sum(2, keepdims=True)) * scale
    gradients = of_scores @ k, of_scores.swapaxes(1, 2) @ q, powers.swapaxes(1, 2) @ do
    return o.astype(np.float16), np.log2(sums[..., 0]).astype(np.float32), gradients


if __name__ == "__main__":
    check()
