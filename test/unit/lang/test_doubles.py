"""Functions of float64, against those of the C library in its widest type."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

RANDOM = np.random.default_rng(0)
ULPS = 3.0
"""Units of the last place: ours are within 2.1, where the reference is no wider it has its own."""
Array = np.ndarray[Any, Any]
Doubles = tl.Array[tl.float64, int]
SPECIAL = np.float64(
    [0, -0.0, 1, -1, 2, 0.5, np.inf, -np.inf, np.nan, 5e-324, -5e-324, 2.2e-308, 1.7e308, -1.7e308]
)
NEAR_ONE = 1 + np.float64([-1, 1, 2, -3]) * 2.0**-52


@tilec.kernel(warps=4, target="sm_80")
def applied(x: Doubles, y: Doubles, fn: tl.Constant[Any]) -> None:
    at = tl.program_id(0) * 512
    tl.store(y, at, fn(tl.load(x, at, 512)))


def uniform(*ranges: tuple[float, float]) -> Array:
    return np.concatenate([RANDOM.uniform(low, high, 300) for low, high in ranges])


def positive() -> Array:
    """Any bits, without the sign."""
    return RANDOM.integers(0, 0x7FF0 << 48, 300).view(np.float64)


def angles() -> Array:
    turns = np.arange(1, 300) * (np.pi / 2)
    hard = np.ldexp(6381956970095103.0, 797)  # of all, the nearest to a multiple of pi / 2
    return np.concatenate([uniform((-10, 10)), positive(), turns, [hard]])


def erf(x: Array) -> Array:
    return np.float64([math.erf(each) for each in x])


CASES: dict[str, tuple[Any, Callable[[Array], Array], Callable[[], Array]]] = {
    "exp": (tl.exp, np.exp, lambda: uniform((-750, 720), (-2, 2))),
    "exp2": (tl.exp2, np.exp2, lambda: uniform((-1080, 1030), (-2, 2))),
    "expm1": (tl.expm1, np.expm1, lambda: uniform((-50, 720), (-2, 2), (-1e-5, 1e-5))),
    "log": (tl.log, np.log, lambda: np.append(positive(), uniform((0.5, 2), (0.999, 1.001)))),
    "log2": (tl.log2, np.log2, lambda: np.append(positive(), uniform((0.5, 2), (0.999, 1.001)))),
    "log10": (tl.log10, np.log10, lambda: np.append(positive(), uniform((0.5, 2), (0.99, 1.01)))),
    "log1p": (tl.log1p, np.log1p, lambda: np.append(positive(), uniform((-1, 9), (-1e-3, 1e-3)))),
    "sin": (tl.sin, np.sin, angles),
    "cos": (tl.cos, np.cos, angles),
    "tanh": (tl.tanh, np.tanh, lambda: uniform((-25, 25), (-1, 1), (-1e-4, 1e-4))),
    "erf": (tl.erf, erf, lambda: uniform((-7, 7), (-1.2, 1.2))),
}


def assert_close(found: Array, exact: Array, x: Array) -> None:
    """Within `ULPS` of what is exact; NaN, infinities and signs of zeros are the same."""
    rounded = exact.astype(np.float64)
    known = np.isfinite(rounded) & (rounded != 0)
    np.testing.assert_array_equal(found[~known], rounded[~known])
    np.testing.assert_array_equal(
        np.signbit(found[rounded == 0]), np.signbit(rounded[rounded == 0])
    )
    error = np.abs(found[known] - exact[known]) / np.spacing(np.abs(rounded[known]))
    worst = int(np.argmax(error))
    assert error[worst] <= ULPS, (x[known][worst], found[known][worst], error[worst])


@pytest.mark.parametrize("name", CASES)
def test_functions(name: str) -> None:
    function, reference, arguments = CASES[name]
    given = np.concatenate([SPECIAL, NEAR_ONE, arguments()])
    x = np.resize(given, -(-given.size // 512) * 512)
    y = np.empty_like(x)
    report = applied[x.size // 512](x, y, function)
    assert report.ok, report.findings
    with np.errstate(all="ignore"):
        assert_close(y, reference(x.astype(np.longdouble)), x)


@tilec.kernel(warps=4, target="sm_80")
def powers(x: Doubles, y: Doubles, z: Doubles) -> None:
    at = tl.program_id(0) * 512
    tl.store(z, at, tl.load(x, at, 512) ** tl.load(y, at, 512))


def exponents() -> Iterator[tuple[Array, Array]]:
    yield np.exp(RANDOM.uniform(-700, 700, 500)), RANDOM.uniform(-1.2, 1.2, 500)
    yield RANDOM.uniform(0.5, 2, 500), RANDOM.uniform(-1000, 1000, 500)
    yield 1 + RANDOM.uniform(-1e-9, 1e-9, 300), RANDOM.uniform(-1e11, 1e11, 300)
    yield -RANDOM.integers(1, 99, 100).astype(float), RANDOM.integers(-150, 150, 100).astype(float)
    grid = np.concatenate([SPECIAL, -SPECIAL, [3, -3, 2.0**53 + 2, 1e300]])
    left, right = np.meshgrid(grid, grid)
    yield left.ravel(), right.ravel()


def test_powers() -> None:
    """With IEEE 754's special cases."""
    pairs = list(exponents())
    x, y = (np.concatenate([pair[side] for pair in pairs]) for side in (0, 1))
    size = -(-x.size // 512) * 512
    x, y = np.resize(x, size), np.resize(y, size)
    z = np.empty_like(x)
    report = powers[size // 512](x, y, z)
    assert report.ok, report.findings
    with np.errstate(all="ignore"):
        assert_close(z, x.astype(np.longdouble) ** y.astype(np.longdouble), x)


@pytest.mark.parametrize("target", ["sm_75", "sm_90a", "sm_120a"])
def test_other_targets(target: str) -> None:
    x = uniform((-40, 40), (-1e9, 1e9))
    x, y = np.resize(x, 512), np.empty(512)
    report = applied.using(target=target)[1](x, y, tl.cos)
    assert report.ok, report.findings
    assert_close(y, np.cos(x.astype(np.longdouble)), x)
