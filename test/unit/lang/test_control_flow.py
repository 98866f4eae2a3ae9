"""Loops and conditions of the kernel do what Python's do; what is constant is plain Python."""

from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

X = np.random.default_rng(0).standard_normal((8, 32)).astype(np.float32)


def run(kernel: Any, n: int, s: float = 0.5) -> np.ndarray[Any, Any]:
    out = np.zeros_like(X)
    kernel[1](X, out, n, s)
    return out


In = tl.Array[tl.float32, int, int]


@tl.function
def at_least(x: tl.Tile, low: float, n: int) -> tl.Tile:
    if n > 0:
        return tl.maximum(x, low)
    return x


def twice(x: tl.Tile) -> tl.Tile:
    return x + x


@tilec.kernel
def conditions(x: In, out: In, n: int, s: float) -> None:
    v = tl.load(x, (0, 0), (8, 32))
    v = at_least(v, -1.0, n)
    if n > 3 and s > 0.0:
        w, k = v * s, 1
    elif not (n == 2 or s > 9.0) or s < -1.0:
        w, k = twice(v), 2
    else:
        w, k = -v, 2
    w += v if n > 10 else 0.25 * v
    if 0 <= n < 5:
        tl.store(out, (0, 0), w * k)
        return
    tl.store(out, (0, 0), w + k)


@pytest.mark.parametrize(("n", "s"), [(-1, 0.5), (2, 1.0), (4, 0.5), (4, -1.0), (11, 2.0), (3, 0)])
def test_conditions(n: int, s: float) -> None:
    v = np.maximum(X, -1) if n > 0 else X
    if n > 3 and s > 0:
        w, k = v * np.float32(s), 1
    elif n != 2 or s < -1:
        w, k = 2 * v, 2
    else:
        w, k = -v, 2
    w = w + (v if n > 10 else np.float32(0.25) * v)
    np.testing.assert_allclose(run(conditions, n, s), w * k if 0 <= n < 5 else w + k, rtol=1e-6)


@tilec.kernel
def loops(x: In, out: In, n: int, s: float) -> None:
    v = tl.load(x, (0, 0), (8, 32))
    total, count, parts = 0.0, 0, (v, v * 0)
    while count < n and total < 100.0:
        total += s
        count += 2
        if count % 4 == 0:
            total = total + 1.0
    for i in range(n):
        last = v + i
        parts = (parts[0] + last, parts[1] - 1.0)
        for j in tl.range(i, 2 * i, 3, stages=2, unroll=1):
            parts = (parts[0], parts[1] + j)
    for i, factor in enumerate([1.0, 0.5, 99.0]):
        if i == 2:
            break
        if factor == 1.0:
            continue
        v = v * factor
    tl.store(out, (0, 0), v + parts[0] + parts[1] + total + count)


@pytest.mark.parametrize(("n", "s"), [(0, 0.5), (1, 0.5), (5, 1.0), (7, 60.0)])
def test_loops(n: int, s: float) -> None:
    v, total, count = X.astype(np.float64), 0.0, 0
    first, second = v, v * 0
    while count < n and total < 100:
        total += s
        count += 2
        total += count % 4 == 0
    for i in range(n):
        first, second = first + v + i, second - 1 + sum(range(i, 2 * i, 3))
    expected = v * 0.5 + first + second + total + count
    np.testing.assert_allclose(run(loops, n, s), expected, rtol=1e-5, atol=1e-5)


@tilec.kernel
def numbers(x: In, out: In, n: int, s: float) -> None:
    steps, half = 0, 1
    for _ in range(n):
        steps = tl.full((), steps, tl.int32) + 1 if isinstance(steps, int) else steps + 1
        half = half * s
    tl.store(out, (0, 0), tl.load(x, (0, 0), (8, 32)) * half + steps)


def test_numbers_take_the_type_that_a_turn_gives_them() -> None:
    np.testing.assert_allclose(run(numbers, 3), X * 0.125 + 3, rtol=1e-6)


@tilec.kernel
def constants(x: In, out: In, n: int, s: float, TIMES: tl.Constant[int] = 3) -> None:  # noqa: N803
    tiles = [tl.load(x, (0, 0), (8, 32)) * (i + 1) for i in range(TIMES)]
    while len(tiles) > 1:
        first, second, *rest = tiles
        tiles = [*rest, first + second]
    assert len(tiles) == 1, "one is left"
    tl.store(out, (0, 0), {True: tiles[0], False: None}[TIMES > 2])


def test_what_is_constant_is_plain_python() -> None:
    np.testing.assert_allclose(run(constants, 3), X * 6, rtol=1e-6)
    assert "scf" not in str(constants.build())
