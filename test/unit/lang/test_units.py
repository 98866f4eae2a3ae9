"""Tiles whose extents are not powers of two, on every generation, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl

from ..combinations import in_turn

TARGETS = ("sm_75", "sm_80", "sm_90", "sm_90a", "sm_120a")
RANDOM = np.random.default_rng(0)


def numbers(shape: tuple[int, ...], dtype: Any = np.float32, most: int = 4) -> Any:
    """Small whole numbers: sums of their products are exact."""
    return RANDOM.integers(-most, most + 1, shape).astype(dtype)


@tilec.kernel
def gemm(
    a: tl.AnyArray,
    b: tl.AnyArray,
    c: tl.AnyArray,
    shape: tl.Constant[Any],
    dtype: tl.Constant[Any],
    turned: tl.Constant[bool] = False,
) -> None:
    m, n, k = shape
    row, col = tl.program_id(1) * m, tl.program_id(0) * n
    acc = tl.zeros((m, n), dtype)
    for at in range(0, a.shape[1], k):
        right = tl.load(b, (col, at), (n, k)).T if turned else tl.load(b, (at, col), (k, n))
        acc = tl.dot(tl.load(a, (row, at), (m, k)), right, acc)
    tl.store(c, (row, col), acc.astype(c.dtype))


PRODUCTS = [
    # type, sum, tile, warps
    (np.float16, np.float32, (64, 96, 32), 4),
    (np.float16, np.float32, (48, 40, 48), 2),
    (np.float16, np.float16, (80, 24, 96), 4),
    (np.float16, np.float32, (192, 64, 64), 4),
    (np.int8, np.int32, (32, 72, 96), 4),
]


@pytest.mark.parametrize(("target", "product", "ragged"), in_turn(TARGETS, PRODUCTS, [False, True]))
def test_product(target: str, product: tuple[Any, ...], ragged: bool) -> None:
    factor, total, tile, warps = product
    m, n, k = tile
    m, n, k = (m + 13, n + 5, 2 * k + 9) if ragged else (m, n, 2 * k)
    a, b = numbers((m, k), factor, 1), numbers((k, n), factor, 1)
    c = np.full((m, n), 77, total)
    grid = -(-n // tile[1]), -(-m // tile[0])
    element = tl.int32 if total is np.int32 else getattr(tl, np.dtype(total).name)
    report = gemm.using(target=target, warps=warps)[grid](a, b, c, tile, element)
    assert report.ok, report.findings
    np.testing.assert_array_equal(c, a.astype(int) @ b.astype(int))


WGMMAS = [
    # tile, warps, instructions of B with N contiguous and with K contiguous
    ((128, 192, 64), 8, ("m64n192k16", 4), ("m64n192k16", 4)),
    ((128, 96, 48), 8, ("m64n96k16", 3), ("m64n96k16", 3)),
    ((64, 80, 64), 4, ("m64n80k16", 4), ("m64n80k16", 4)),
    ((64, 320, 32), 4, ("m64n64k16", 10), ("m64n160k16", 4)),  # N of whole panels of 64
    ((192, 96, 32), 4, ("m64n96k16", 6), ("m64n96k16", 6)),
    ((64, 192, 32), 8, ("m64n32k16", 6), ("m64n32k16", 6)),
    ((64, 72, 32), 4, ("m64n72k16", 0), ("m64n72k16", 2)),  # 144 bytes are not lines of a swizzle
]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(("tile", "warps", "plain", "transposed"), WGMMAS, ids=str)
def test_warpgroups_take_all_columns(
    tile: tuple[int, int, int],
    warps: int,
    plain: tuple[str, int],
    transposed: tuple[str, int],
    turned: bool,
) -> None:
    m, n, k = (tile[0] + 8, tile[1] + 24, 3 * tile[2] + 8)
    a, b = numbers((m, k), np.float16, 1), numbers((n, k) if turned else (k, n), np.float16, 1)
    c = np.full((m, n), 77, np.float16)
    grid = -(-n // tile[1]), -(-m // tile[0])
    found = gemm.using(target="sm_90a", warps=warps)
    ptx = found.compile(a, b, c, tile, tl.float32, turned).ptx
    shape, count = transposed if turned else plain
    assert ptx.count(f"wgmma.mma_async.sync.aligned.{shape}.") == count
    assert ptx.count("wgmma.mma_async") == count
    report = found[grid](a, b, c, tile, tl.float32, turned)
    assert report.ok, report.findings
    np.testing.assert_array_equal(c, a.astype(int) @ (b.T if turned else b).astype(int))


def applied(fn: Any, x: Any, y: Any, **settings: Any) -> Any:
    """What a function of a tile gives, stored."""
    report = of_tile.using(**settings)[1](x, y, fn, x.shape)
    assert report.ok, report.findings
    return y


@tilec.kernel
def of_tile(x: tl.AnyArray, y: tl.AnyArray, fn: tl.Constant[Any], shape: tl.Constant[Any]) -> None:
    found = fn(tl.load(x, (0,) * x.ndim, shape)).astype(y.dtype)
    tl.store(y, (0,) * y.ndim, found if found.ndim else tl.full(1, found))


SHAPES = [(96,), (48, 40), (6, 8, 20), (64, 3), (5, 1, 16)]
FUNCTIONS: dict[str, tuple[Any, Any]] = {
    "sum": (lambda t: tl.sum(t, -1), lambda x: x.sum(-1)),
    "max": (lambda t: tl.max(t, 0), lambda x: x.max(0)),
    "sum of all": (tl.sum, lambda x: x.sum()),
    "transpose": (tl.transpose, np.transpose),
    "arithmetic": (
        lambda t: tl.where(t > 0, t * t, 1 - t),
        lambda x: np.where(x > 0, x * x, 1 - x),
    ),
    "repeated": (
        lambda t: t - tl.max(t, -1, keepdims=True),
        lambda x: x - x.max(-1, keepdims=True),
    ),
    "indices": (
        lambda t: t * 0 + tl.arange(t.shape[-1]).astype(tl.float32),
        lambda x: x * 0 + np.arange(x.shape[-1]),
    ),
    "argmax": (lambda t: tl.argmax(t, -1), lambda x: x.argmax(-1)),
    "argmin of all": (tl.argmin, lambda x: x.argmin()),
    "new axis": (lambda t: t[None] + t[None], lambda x: 2 * x[None]),
}


@pytest.mark.parametrize(
    ("target", "shape", "name"), in_turn(["sm_75", "sm_90a", "sm_120a"], SHAPES, FUNCTIONS)
)
def test_function(target: str, shape: tuple[int, ...], name: str) -> None:
    ours, numpys = FUNCTIONS[name]
    x = numbers(shape)
    wanted = np.asarray(numpys(x), np.float32)
    if wanted.ndim == 0:
        wanted = wanted.reshape(1)
    for warps in (1, 4):
        y = np.full(wanted.shape, np.nan, np.float32)
        applied(ours, x, y, target=target, warps=warps)
        np.testing.assert_array_equal(y, wanted)


def test_other_axes_are_sorted_and_scanned() -> None:
    x, y = numbers((24, 32)), np.zeros((24, 32), np.float32)
    np.testing.assert_array_equal(applied(lambda t: tl.sort(t, 1), x, y), np.sort(x, 1))
    np.testing.assert_array_equal(applied(lambda t: tl.cumsum(t, 1), x, y), np.cumsum(x, 1))


def test_part() -> None:
    x, y = numbers((24, 96)), np.zeros((24, 32), np.float32)
    np.testing.assert_array_equal(applied(lambda t: t[:, 32:64], x, y), x[:, 32:64])
    y = np.zeros((24, 3, 32), np.float32)
    np.testing.assert_array_equal(
        applied(lambda t: t.reshape(24, 3, 32), x, y), x.reshape(24, 3, 32)
    )


@pytest.mark.parametrize("bits", [np.float16, np.int8, np.float64, ml_dtypes.bfloat16])
def test_casts(bits: Any) -> None:
    x, y = numbers((40, 24)), np.zeros((40, 24), bits)
    applied(lambda t: t, x, y, target="sm_90")
    np.testing.assert_array_equal(y.astype(np.float32), x)


@tilec.kernel(warps=2)
def moved(x: tl.AnyArray, at: tl.AnyArray, y: tl.AnyArray, total: tl.AnyArray) -> None:
    rows = tl.load(at, 0, 24)
    tile = tl.load(x, (rows, 0), (24, 40), mask=(rows < 30)[:, None])
    tl.store(y, (rows, 0), tile + 1, mask=(rows < 30)[:, None])
    tl.atomic_add(total, tl.arange(40) % 8, tl.sum(tile, 0))


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_gathered_and_scattered(target: str) -> None:
    x, at = numbers((32, 40)), RANDOM.permutation(32)[:24].astype(np.int32)
    y, total = np.zeros((32, 40), np.float32), np.zeros(8, np.float32)
    assert moved.using(target=target)[1](x, at, y, total).ok
    kept = np.where((at < 30)[:, None], x[at], 0)
    wanted = np.zeros_like(y)
    wanted[at[at < 30]] = x[at[at < 30]] + 1
    np.testing.assert_array_equal(y, wanted)
    np.testing.assert_array_equal(total, kept.sum(0).reshape(5, 8).sum(0))


@tilec.kernel(warps=4)
def attention(q: tl.AnyArray, k: tl.AnyArray, v: tl.AnyArray, out: tl.AnyArray) -> None:
    queries = tl.load(q, (0, 0), (64, 48))
    acc, rows = tl.zeros((64, 48)), tl.zeros((64, 1))
    for at in range(0, k.shape[0], 96):
        scores = tl.dot(queries, tl.load(k, (at, 0), (96, 48)).T)
        p = tl.where(scores > 0, scores, 0)
        rows += tl.sum(p, 1, keepdims=True)
        acc = tl.dot(p.astype(tl.float16), tl.load(v, (at, 0), (96, 48)), acc)
    tl.store(out, (0, 0), acc + rows)


@pytest.mark.parametrize("target", TARGETS)
def test_a_product_of_a_product(target: str) -> None:
    q, k, v = (numbers((n, 48), np.float16, 1) for n in (64, 200, 200))
    out = np.full((64, 48), np.nan, np.float32)
    assert attention.using(target=target)[1](q, k, v, out).ok
    p = np.maximum(q.astype(int) @ k.astype(int).T, 0)
    np.testing.assert_array_equal(out, p @ v.astype(int) + p.sum(1, keepdims=True))


@pytest.mark.parametrize(
    ("fn", "message"),
    [
        (lambda t: tl.sort(t, 1), "a sort needs an axis whose extent is a power of two"),
        (lambda t: tl.cumsum(t, 1), "a scan needs an axis whose extent is a power of two"),
        (lambda t: t.reshape(40 * 3, 8), "does not become 120x8 unit by unit"),
        (lambda t: t[:, 0:16], "slices of a power of two of elements, which divides the extent"),
        (lambda t: tl.zeros((65, 9)), "65x9 is 65x9 units of 1x1, and 64 units at most"),
        (lambda t: tl.zeros((0, 9)), "extents of a tile are 1 or more"),
    ],
)
def test_what_is_refused(fn: Any, message: str) -> None:
    x = np.zeros((40, 24), np.float32)
    with pytest.raises(tilec.TilecError, match=message) as found:
        of_tile[1](x, x, fn, x.shape)
    assert "error" in str(found.value)
