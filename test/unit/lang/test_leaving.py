"""break, continue and return do in loops and conditions of the kernel what they do in Python.

Each function below is run twice: as a kernel's, on the simulator, and by Python itself.
"""

from collections.abc import Callable

import numpy as np
import pytest
import tilec
import tilec.lang as tl

Out = tl.Array[tl.int32, int]


@tl.function
def break_of_for(n: int, s: int) -> int:
    total = 0
    for i in range(n):
        if i * i > s:
            break
        total += i
    return total


@tl.function
def counter_behind(n: int, s: int) -> int:
    i = -1
    for i in range(0, n, 2):
        if i > s:
            break
    return i


@tl.function
def value_of_a_break(n: int, s: int) -> int:
    found = -1
    for i in range(n):
        if i % 3 == s % 3:
            squared = i * i
            if squared > s:
                found = squared
                break
        elif i > 9:
            found = -i
            break
    return found


@tl.function
def continues(n: int, s: int) -> int:
    total = 0
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > s:
            if i % 3 == 0:
                continue
            total += 100
        total += i
    return total


@tl.function
def returns_from_loops(n: int, s: int) -> int:
    for i in range(n):
        for j in range(i):
            if i * j > s:
                return i * 100 + j
            if j > 3:
                break
    return -1


@tl.function
def nested_returns(n: int, s: int) -> int:
    total = 1
    if n > 2:
        if s > 3:
            return total + n
        total += 5
        if s > 1:
            if n > 4:
                return total * 2
            total += 7
        total += 11
    total += s
    return total


@tl.function
def breaks_of_while(n: int, s: int) -> int:
    steps = 0
    while n > 0:
        n = n // 2
        if n == s:
            break
        if n % 3 == 1:
            continue
        steps += 1
        while True:
            steps += 10
            if steps > s:
                break
    return steps + n


@tl.function
def written_out(n: int, s: int) -> int:
    total = 0
    for i in (1, 2, 3, 4, 5):
        if i == 2:
            continue
        if i > n:
            break
        if total > s:
            return -total
        if i * n % 4 == 3:
            continue
        total += i
    return total


@tl.function
def unconditional(n: int, s: int) -> int:
    total = s
    for i in range(n):
        total += i + 1
        break
    while n > 3:
        total += 1
        n -= 1
        if total > 2:
            return total
        continue
    return total + 5


@tl.function
def pair(n: int, s: int) -> tuple[int, int]:
    for i in range(n):
        if i > s:
            return i, s
    if n > 3:
        return s, n
    return n + s, 0


@tl.function
def helpers(n: int, s: int) -> int:
    a, b = pair(n, s)
    for i in range(b):
        c, d = pair(i, a)
        if c > d:
            a += c
            continue
        b -= d
        if b < -20:
            break
    return a * 1000 + b


@tl.function
def lists(n: int, s: int) -> int:
    one = [1]
    same = one
    if n > s:
        one.append(n)
    else:
        one.append(s)
        if n == 0:
            return same[1] - 7
    for i in (1, 2):
        one.append(i)
        if i + n > 4:
            one.append(n)
            continue
        one.append(s)
    total, turns = 0, 0
    while True:
        one.append(5)
        turns += one.pop()
        if turns > n:
            break
    for i in one:
        total = total * 3 + i
    return total * 100 + len(one) + turns


FUNCTIONS: list[Callable[[int, int], int]] = [
    *(break_of_for, counter_behind, value_of_a_break, continues, returns_from_loops),
    *(nested_returns, breaks_of_while, written_out, unconditional, helpers),
    lists,
]


@tilec.kernel(warps=1)
def all_of_them(out: Out, n: int, s: int) -> None:
    for at, function in enumerate(FUNCTIONS):
        tl.store(out, at, tl.full((1,), function(n, s).astype(tl.int32)))


@pytest.mark.parametrize("n", [0, 1, 3, 5, 12])
@pytest.mark.parametrize("s", [0, 2, 4, 30])
def test_they_do_what_python_does(n: int, s: int) -> None:
    out = np.full(len(FUNCTIONS), -999, np.int32)
    report = all_of_them[1](out, n, s)
    assert not report.findings
    expected = [function(n, s) for function in FUNCTIONS]
    assert dict(zip(range(99), out, strict=False)) == dict(enumerate(expected))


@tilec.kernel(warps=1)
def zero_of_either_sign(out: tl.Array[tl.float32, int], n: int) -> None:
    zero = 0.0 if n > 3 else -0.0
    tl.store(out, 0, tl.full((8,), tl.float32(zero)))


@pytest.mark.parametrize(("n", "expected"), [(4, False), (3, True)])
def test_zeros_of_two_signs_are_two_values(n: int, expected: bool) -> None:
    out = np.ones(8, np.float32)
    zero_of_either_sign[1](out, n)
    assert not out.any()
    assert (np.signbit(out) == expected).all()


Matrix = tl.Array[tl.float32, int, int]


@tilec.kernel
def tiles(x: Matrix, out: Matrix, n: int, low: float) -> None:
    """Tiles that are handed on, and a kernel that ends in a loop."""
    acc = tl.zeros((16, 32))
    if n < 0:
        return
    for i in range(n):
        part = tl.load(x, (16 * i, 0), (16, 32))
        if part.max() > low:
            if i == 2:
                tl.store(out, (0, 0), acc - 1.0)
                return
            break
        acc = acc + part
    tl.store(out, (0, 0), acc * 2.0)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a", "sm_120a"])
@pytest.mark.parametrize("large", [0, 1, 2, 5])
def test_tiles_leave_loops(large: int, target: str) -> None:
    x = np.random.default_rng(0).uniform(-1, 1, (64, 32)).astype(np.float32)
    if large < 4:
        x[16 * large, 5] = 9.0
    out = np.zeros((16, 32), np.float32)
    report = tiles.using(target=target)[1](x, out, 4, 5.0)
    assert not report.findings
    added = np.add.reduce(x.reshape(4, 16, 32)[: min(large, 4)], axis=0)
    np.testing.assert_allclose(out, added - 1 if large == 2 else 2 * added, rtol=1e-5, atol=1e-6)


@tilec.kernel(warps=4)
def products(a: tl.Array[tl.float16, int, int], out: Matrix, n: int) -> None:
    """A product of matrices in a loop that is left early."""
    acc = tl.zeros((64, 64))
    for k in range(0, 128, 32):
        if k >= n:
            break
        tile = tl.load(a, (0, k), (64, 32))
        acc = tl.dot(tile, tile.T, acc)
    tl.store(out, (0, 0), acc)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_products_leave_loops(target: str) -> None:
    a = np.random.default_rng(0).integers(-3, 4, (64, 128)).astype(np.float16)
    out = np.zeros((64, 64), np.float32)
    report = products.using(target=target)[1](a, out, 64)
    assert not report.findings
    half = a[:, :64].astype(np.float32)
    np.testing.assert_array_equal(out, half @ half.T)


def test_what_no_turn_leaves_stays_a_counted_loop() -> None:
    @tilec.kernel
    def kernel(out: Out, n: int, EARLY: tl.Constant[bool]) -> None:  # noqa: N803
        total = 0
        for i in range(n):
            if EARLY and n > 3:
                break
            total += i
        tl.store(out, 0, tl.full((1,), tl.int32(total)))

    assert "scf.for" in str(kernel.build(EARLY=False))
    left = str(kernel.build(EARLY=True))
    assert "scf.for" not in left
    assert "scf.while" in left
