"""Mamba-2: the state space model h[t] = a[t]·h[t-1] + B[t]ᵀ·x[t], y[t] = C[t]·h[t], by chunks.

Within a chunk it is a product, as attention is; between chunks the state goes on from one to the
next. `selective_scan` is Mamba-1's, whose decays differ from channel to channel, by a scan.
"""

from typing import Any

import numpy as np
import tilec
import tilec.lang as tl

Inputs = tl.Array[tl.float16, int, int, int]


@tilec.kernel
def chunked_scan(
    x: Inputs,  # heads x time x P
    decay: tl.Array[tl.float32, int, int],  # heads x time, logarithms to base 2 of a
    b: Inputs,  # heads x time x N
    c: Inputs,
    y: tl.Array[tl.float32, int, int, int],
    P: tl.Constant[int] = 64,
    N: tl.Constant[int] = 64,
    CHUNK: tl.Constant[int] = 64,
) -> None:
    """Of one head: chunk after chunk."""
    head, half = tl.program_id(0), tl.float16
    row, col = tl.indices((CHUNK, CHUNK))
    state = tl.zeros((N, P))
    for at in range(0, x.shape[1], CHUNK):
        held = tl.load(x, (head, at, 0), (CHUNK, P))
        inputs, outputs = (tl.load(one, (head, at, 0), (CHUNK, N)) for one in (b, c))
        run = tl.load(decay, (head, at), CHUNK).cumsum()
        between = tl.where(row >= col, run[:, None] - run[None, :], -1e30)
        weights = tl.dot(outputs, inputs.T) * tl.exp2(between)
        out = tl.dot(weights.astype(half), held)
        before = tl.dot(outputs, state.astype(half))
        tl.store(y, (head, at, 0), out + before * tl.exp2(run)[:, None])
        whole = tl.load(decay, (head, at), CHUNK).sum()
        left = inputs.astype(tl.float32) * tl.exp2(whole - run)[:, None]
        state = tl.dot(left.astype(half).T, held, state * tl.exp2(whole))


@tilec.kernel
def selective_scan(
    x: tl.Array[tl.float32, int, int],  # time x channels
    delta: tl.Array[tl.float32, int, int],
    a: tl.Array[tl.float32, int, int],  # channels x N
    b: tl.Array[tl.float32, int, int],  # time x N
    c: tl.Array[tl.float32, int, int],
    y: tl.Array[tl.float32, int, int],
    N: tl.Constant[int],
    TIME: tl.Constant[int] = 32,
) -> None:
    """Of one channel: blocks of time, each by a scan of (a, b) -> a·h + b."""
    channel = tl.program_id(0)
    rate, state = tl.load(a, (channel, 0), N), tl.zeros(N)
    last = (tl.arange(TIME) == TIME - 1)[:, None]
    for at in range(0, x.shape[0], TIME):
        held, step = (tl.load(one, (at, channel), (TIME, 1)) for one in (x, delta))
        factor = tl.exp(step * rate[None, :])
        term = step * held * tl.load(b, (at, 0), (TIME, N))
        product, sum_ = tl.associative_scan(
            (factor, term), 0, lambda a0, b0, a1, b1: (a0 * a1, b0 * a1 + b1)
        )
        states = product * state[None, :] + sum_
        out = (states * tl.load(c, (at, 0), (TIME, N))).sum(axis=1, keepdims=True)
        tl.store(y, (at, channel), out)
        state = tl.where(last, states, 0.0).sum(axis=0)


def check(**settings: Any) -> None:
    """Run both, and compare with numpy, step by step."""
    random = np.random.default_rng(0)
    heads, time = 2, 100
    x, b, c = (random.standard_normal((3, heads, time, 64)) / 4).astype(np.float16)
    decay = -random.uniform(0, 0.5, (heads, time)).astype(np.float32)
    y, state = np.empty(x.shape, np.float32), np.zeros((heads, 64, 64))
    chunked_scan.using(**settings)[heads](x, decay, b, c, y)
    for t in range(time):
        state *= 2.0 ** decay[:, t, None, None]
        state += b[:, t, :, None].astype(float) * x[:, t, None, :]
        expected = np.einsum("hn,hnp->hp", c[:, t].astype(float), state)
        np.testing.assert_allclose(y[:, t], expected, rtol=1e-2, atol=1e-2)

    channels, size = 5, 16
    u, delta = random.standard_normal((time, channels)), random.uniform(0, 1, (time, channels))
    rate, (b, c) = -random.uniform(0, 1, (channels, size)), random.standard_normal((2, time, size))
    given = [one.astype(np.float32) for one in (u, delta, rate, b, c)]
    y, hidden = np.empty((time, channels), np.float32), np.zeros((channels, size))
    selective_scan.using(**settings)[channels](*given, y, N=size)
    for t in range(time):
        hidden = hidden * np.exp(delta[t, :, None] * rate) + (delta[t] * u[t])[:, None] * b[t]
        np.testing.assert_allclose(y[t], hidden @ c[t], rtol=1e-3, atol=1e-4)


if __name__ == "__main__":
    check()
