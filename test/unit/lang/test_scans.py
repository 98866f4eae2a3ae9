"""Scans, reductions by a function, sorts and parts of tiles, against numpy."""

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl

from ..combinations import in_turn

RANDOM = np.random.default_rng(0)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_120a")
SHAPES = ((64,), (8, 32), (4, 8, 16))


def numbers(shape: tuple[int, ...], dtype: Any) -> Any:
    """Small whole numbers, some alike."""
    low = 0 if np.dtype(dtype).kind == "u" else -9
    return RANDOM.integers(low, 10, shape).astype(dtype)


def axes(shape: tuple[int, ...]) -> range:
    return range(-1, len(shape) - 1)


@tilec.kernel
def applied(x: tl.AnyArray, y: tl.AnyArray, fn: tl.Constant[Any], shape: tl.Constant[Any]) -> None:
    found = fn(tl.load(x, (0,) * x.ndim, shape))
    tl.store(y, (0,) * y.ndim, found.astype(y.dtype))


def run(fn: Callable[[Any], Any], x: Any, y: Any, **settings: Any) -> Any:
    report = applied.using(**settings)[1](x, y, fn, x.shape)
    assert report.ok, report.findings
    return y


@pytest.mark.parametrize(
    ("target", "shape", "dtype"),
    in_turn(TARGETS, SHAPES, [np.int32, np.float32, np.float64, np.int8, np.uint16]),
)
def test_cumsum(target: str, shape: tuple[int, ...], dtype: Any) -> None:
    x = numbers(shape, dtype)
    for axis in axes(shape):
        y = np.zeros(shape, np.float64)
        run(lambda t, axis=axis: tl.cumsum(t, axis), x, y, target=target)
        np.testing.assert_array_equal(y, np.cumsum(x, axis))
        run(lambda t, axis=axis: tl.cumsum(t, axis, reverse=True), x, y, target=target)
        np.testing.assert_array_equal(y, np.flip(np.cumsum(np.flip(x, axis), axis), axis))


@pytest.mark.parametrize("warps", [1, 2, 8])
@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_sums_of_halves_are_rounded_once(warps: int, dtype: Any) -> None:
    x = (RANDOM.integers(0, 9, (4, 128)) * 0.25).astype(dtype)
    y = run(lambda t: tl.cumsum(t, 1), x, np.zeros_like(x), warps=warps)
    np.testing.assert_array_equal(y, np.cumsum(x.astype(np.float32), 1).astype(dtype))


def test_cumprod() -> None:
    x = RANDOM.integers(1, 3, (8, 8)).astype(np.int32) * RANDOM.choice([-1, 1], (8, 8))
    y = run(lambda t: tl.cumprod(t, 0), x.astype(np.int32), np.zeros((8, 8), np.int32))
    np.testing.assert_array_equal(y, np.cumprod(x, 0))


def affine(a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """The function x -> a x + b, then x -> c x + d: associative, and not commutative."""
    return a * c, b * c + d


@tilec.kernel
def recurrence(
    a: tl.Array[tl.int32, int, int],
    b: tl.Array[tl.int32, int, int],
    out: tl.Array[tl.int32, int, int, int],
    last: tl.Array[tl.int32, int, int],
    reverse: tl.Constant[bool],
) -> None:
    given = (tl.load(a, (0, 0), (4, 64)), tl.load(b, (0, 0), (4, 64)))
    scale, shift = tl.associative_scan(given, 1, affine, reverse=reverse)
    tl.store(out, (0, 0, 0), scale)
    tl.store(out, (1, 0, 0), shift)
    scale, shift = tl.reduce(given, 1, affine)
    tl.store(last, (0, 0), scale)
    tl.store(last, (1, 0), shift)


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("reverse", [False, True])
def test_pairs_in_their_order(reverse: bool, warps: int) -> None:
    """A linear recurrence, as of a state space model."""
    a, b = RANDOM.integers(-3, 4, (2, 4, 64)).astype(np.int32)
    out, last = np.zeros((2, 4, 64), np.int32), np.zeros((2, 4), np.int32)
    recurrence.using(warps=warps)[1](a, b, out, last, reverse)
    expected = np.zeros_like(out)
    total = np.array([np.ones(4), np.zeros(4)]).astype(np.int32)
    for at in range(63, -1, -1) if reverse else range(64):
        total = np.array(affine(*total, a[:, at], b[:, at]))
        expected[:, :, at] = total
    np.testing.assert_array_equal(out, expected)
    if not reverse:
        np.testing.assert_array_equal(last, expected[:, :, -1])


def largest(a: Any, b: Any) -> Any:
    return tl.where(a > b, a, b)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reduce_with_a_function(axis: int | None, keepdims: bool) -> None:
    x = RANDOM.standard_normal((8, 32)).astype(np.float32)
    expected = x.max(axis, keepdims=keepdims)
    if axis is None and not keepdims:
        y = run(lambda t: tl.zeros(32) + tl.reduce(t, None, largest), x, np.zeros(32, np.float32))
        np.testing.assert_array_equal(y, expected)
        return
    y = np.zeros(expected.shape, np.float32)
    run(lambda t: tl.reduce(t, axis, largest, keepdims=keepdims), x, y)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(
    ("target", "dtype", "name"),
    in_turn(TARGETS, [np.float32, np.int32, np.float16, np.uint8, np.bool_], ["argmax", "argmin"]),
)
def test_places(target: str, dtype: Any, name: str) -> None:
    """Of several the first; of NaN's the first of those."""
    x = numbers((8, 64), np.int32)
    x = RANDOM.random((8, 64)) < 0.1 if dtype == np.bool_ else x.astype(dtype)
    if np.dtype(dtype).kind == "f":
        x[0, 7], x[1, 3], x[1, 40] = np.nan, np.nan, np.nan
        x[2, :] = -np.inf
    for axis in (0, 1):
        expected = getattr(np, name)(x, axis)
        y = np.zeros(expected.shape, np.int32)
        run(lambda t, axis=axis: getattr(tl, name)(t, axis), x, y, target=target)
        np.testing.assert_array_equal(y, expected)


def test_the_place_in_a_whole_tile() -> None:
    x = RANDOM.permutation(512).reshape(8, 64).astype(np.int32)
    y = run(lambda t: tl.argmax(t, keepdims=True), x, np.zeros((1, 1), np.int32))
    assert y[0, 0] == np.argmax(x)


@pytest.mark.parametrize(
    ("target", "warps", "dtype"),
    in_turn(
        TARGETS,
        [1, 4],
        [np.float32, np.float16, ml_dtypes.bfloat16, np.int8, np.uint32, np.int64],
    ),
)
def test_sort(target: str, warps: int, dtype: Any) -> None:
    x = numbers((4, 64), np.float32).astype(dtype)
    if not issubclass(dtype, np.integer):
        x[1, :3], x[2, 5], x[3, 1] = [np.nan, -np.inf, -0.0], -np.nan, np.inf
    for axis in (0, 1):
        y, expected = np.zeros(x.shape), np.sort(x.astype(np.float64), axis)
        run(lambda t, axis=axis: tl.sort(t, axis), x, y, target=target, warps=warps)
        np.testing.assert_array_equal(y, expected)
        run(lambda t, axis=axis: tl.sort(t, axis, descending=True), x, y, target=target)
        np.testing.assert_array_equal(y, np.flip(expected, axis))


@pytest.mark.parametrize("descending", [False, True])
def test_argsort_is_stable(descending: bool) -> None:
    x = numbers((256,), np.int16)
    y = run(lambda t: tl.argsort(t, descending=descending), x, np.zeros(256, np.int32))
    key = -x.astype(int) if descending else x
    np.testing.assert_array_equal(y, np.argsort(key, kind="stable"))


@tilec.kernel
def by_keys(keys: tl.AnyArray, a: tl.AnyArray, b: tl.AnyArray) -> None:
    held = tl.load(keys, 0, 128), [tl.load(a, 0, 128), tl.load(b, 0, 128)]
    k, x, y = tl.sort_by(*held)
    tl.store(keys, 0, k)
    tl.store(a, 0, x)
    tl.store(b, 0, y)


def test_values_go_with_their_keys() -> None:
    keys = numbers((128,), np.float32)
    a, b = RANDOM.standard_normal(128), RANDOM.permutation(128).astype(np.int8)
    order = np.argsort(keys, kind="stable")
    expected = keys[order], a[order], b[order]
    by_keys[1](keys, a, b)
    for got, wanted in zip((keys, a, b), expected, strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("descending", [False, True])
def test_zeros_of_both_signs_are_equal_keys(descending: bool) -> None:
    keys = np.copysign(RANDOM.integers(0, 2, 64), RANDOM.choice([-1.0, 1.0], 64)).astype(np.float16)
    order = np.argsort(-keys if descending else keys, kind="stable")
    got = run(lambda t: tl.argsort(t, descending=descending), keys, np.zeros(64, np.int32))
    np.testing.assert_array_equal(got, order)
    held = run(lambda t: tl.sort_by(t, t, descending=descending)[0], keys, np.zeros(64, np.float16))
    np.testing.assert_array_equal(held.view(np.int16), keys[order].view(np.int16))


def test_variance_as_a_method() -> None:
    x = RANDOM.standard_normal((8, 32)).astype(np.float32)
    y = run(lambda t: t.var(1, ddof=1, keepdims=True), x, np.zeros((8, 1), np.float32))
    np.testing.assert_allclose(y, x.var(1, ddof=1, keepdims=True), rtol=1e-5)
    y = run(lambda t: t.std(0, keepdims=True), x, np.zeros((1, 32), np.float32))
    np.testing.assert_allclose(y, x.std(0, keepdims=True), rtol=1e-5)


@pytest.mark.parametrize("k", [1, 4, 32])
def test_topk(k: int) -> None:
    x = RANDOM.standard_normal((4, 32)).astype(np.float32)
    y = run(lambda t: tl.topk(t, k), x, np.zeros((4, k), np.float32))
    np.testing.assert_array_equal(y, -np.sort(-x, 1)[:, :k])


@pytest.mark.parametrize(
    "index",
    [
        np.s_[3],
        np.s_[:, -1],
        np.s_[:4],
        np.s_[4:8, 16:32],
        np.s_[..., 8:12],
        np.s_[2, None, 4:8],
        np.s_[6:, None],
        np.s_[None, :, 5],
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.bool_, np.float16])
def test_parts(index: Any, dtype: Any) -> None:
    x = RANDOM.standard_normal((8, 32)).astype(dtype)
    expected = x[index]
    y = run(lambda t: t[index], x, np.zeros(expected.shape, dtype))
    np.testing.assert_array_equal(y, expected)


def test_a_product_is_summed_along_its_rows() -> None:
    """The layout of a matrix instruction's result takes elements as it is."""
    a = RANDOM.integers(-4, 5, (64, 32)).astype(np.float16)

    def fn(t: Any) -> Any:
        return tl.cumsum(tl.dot(t, t.T), 1)

    y = run(fn, a, np.zeros((64, 64), np.float32))
    np.testing.assert_array_equal(y, np.cumsum(a.astype(np.float32) @ a.T.astype(np.float32), 1))
