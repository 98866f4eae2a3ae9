"""Loads, stores and atomic updates at tiles of indices, and under masks, against numpy."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.backend.cubin import tools

RANDOM = np.random.default_rng(0)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_120a")


@tilec.kernel
def rows_of(table: tl.AnyArray, ids: tl.AnyArray, out: tl.AnyArray) -> None:
    rows = tl.load(ids, 0, 16)
    tl.store(out, (0, 0), tl.load(table, (rows, 3), (16, 32), fill=1))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("warps", [1, 4, 8])
@pytest.mark.parametrize(
    ("dtype", "ids"),
    [
        (np.float16, np.int32),
        (ml_dtypes.bfloat16, np.int64),
        (np.float64, np.uint8),
        (np.int8, np.uint32),
        (np.bool_, np.int16),
    ],
)
def test_rows(target: str, warps: int, dtype: Any, ids: Any) -> None:
    """Rows beyond the table, and before it where indices have a sign, are filled."""
    table = RANDOM.integers(0, 5, (13, 40)).astype(dtype)
    low = -2 if np.dtype(ids).kind == "i" else 0
    at = RANDOM.integers(low, 16, 16).astype(ids)
    out = np.zeros((16, 32), dtype)
    rows_of.using(target=target, warps=warps)[1](table, at, out)
    places = at.astype(np.int64)
    inside = (places >= 0) & (places < 13)
    filled = np.full((16, 32), 1).astype(dtype)
    filled[inside] = table[places[inside], 3:35]
    np.testing.assert_array_equal(out, filled)


@tilec.kernel
def along_columns(x: tl.AnyArray, ids: tl.AnyArray, out: tl.AnyArray) -> None:
    at = tl.load(ids, (0, 0), (8, 32))
    tl.store(out, (0, 0), tl.load(x, (0, at), (8, 32)))
    tl.store(out, (8, at), tl.load(x, (0, 0), (8, 32)))


@pytest.mark.parametrize("column_major", [False, True])
@pytest.mark.parametrize("warps", [1, 4])
def test_along_the_last_dimension(warps: int, column_major: bool) -> None:
    """As take_along_axis and put_along_axis."""
    x = RANDOM.standard_normal((8, 32)).astype(np.float32)
    x = np.asfortranarray(x) if column_major else x
    ids = np.array([RANDOM.permutation(32) for _ in range(8)])
    out = np.zeros((16, 32), np.float32)
    along_columns.using(warps=warps)[1](x, ids, out)
    np.testing.assert_array_equal(out[:8], np.take_along_axis(x, ids, 1))
    put = np.zeros((8, 32), np.float32)
    np.put_along_axis(put, ids, x, 1)
    np.testing.assert_array_equal(out[8:], put)


@tilec.kernel
def pages(
    cache: tl.Array[tl.float16, int, int, int],
    table: tl.Array[tl.int32, int],
    out: tl.Array[tl.float16, int, int],
    first: int,
) -> None:
    token = first + tl.arange(32)
    page = tl.load(table, token // 8, 32, mask=token >= 0, fill=-1)
    held = tl.load(cache, (page[:, None], (token % 8)[:, None], 0), (32, 16))
    tl.store(out, (0, 0), held)


@pytest.mark.parametrize("first", [0, 5, -3])
def test_pages_of_a_cache(first: int) -> None:
    """Two tiles of indices, in dimensions that the tile does not lie along."""
    cache = RANDOM.standard_normal((11, 8, 16)).astype(np.float16)
    table = RANDOM.permutation(11)[:4].astype(np.int32)
    out = np.zeros((32, 16), np.float16)
    pages[1](cache, table, out, first)
    token = first + np.arange(32)
    inside = (token >= 0) & (token < 32)
    expected = np.where(inside[:, None], cache[table[np.clip(token // 8, 0, 3)], token % 8], 0)
    np.testing.assert_array_equal(out, expected)


@tilec.kernel
def moved(
    x: tl.AnyArray, keys: tl.AnyArray, out: tl.AnyArray, n: int, flag: tl.Constant[Any] = None
) -> None:
    at = tl.arange(64)
    tl.store(out, tl.load(keys, 0, 64), tl.load(x, 0, 64), mask=(at < n) if flag is None else flag)


@pytest.mark.parametrize("n", [0, 13, 64, 100])
def test_scatter_under_a_mask(n: int) -> None:
    keys, x = RANDOM.permutation(64), RANDOM.integers(0, 99, 64).astype(np.int16)
    out = np.full(60, -1, np.int16)
    moved[1](x, keys, out, n)
    expected = np.full(64, -1, np.int16)
    expected[keys[:n]] = x[:n]
    np.testing.assert_array_equal(out, expected[:60])


@pytest.mark.parametrize("flag", [False, True])
def test_a_mask_known_when_it_is_compiled(flag: bool) -> None:
    keys, x = RANDOM.permutation(64), RANDOM.integers(0, 99, 64).astype(np.int16)
    out = np.full(64, -1, np.int16)
    moved[1](x, keys, out, 0, flag)
    np.testing.assert_array_equal(out[keys], x if flag else np.full(64, -1))


@tilec.kernel
def counted(x: tl.AnyArray, counts: tl.AnyArray, most: tl.Array[tl.int32, int], n: int) -> None:
    at = tl.program_id(0) * 128 + tl.arange(128)
    bins = tl.load(x, tl.program_id(0) * 128, 128)
    tl.atomic_add(counts, bins, 1, mask=at < n)
    tl.atomic_max(most, bins, at.astype(tl.int32), mask=at < n)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.float64, np.uint32])
def test_atomic_updates_of_one_place(target: str, dtype: Any) -> None:
    """Elements of one tile that go to one place are all added up there."""
    x = RANDOM.integers(0, 12, 300).astype(np.int32)
    counts, most = np.zeros(10, dtype), np.full(10, -1, np.int32)
    counted.using(target=target, warps=2)[3](x, counts, most, 290)
    kept = x[:290]
    np.testing.assert_array_equal(counts, np.bincount(kept, minlength=12)[:10])
    last = [max(np.flatnonzero(kept == b), default=-1) for b in range(10)]
    np.testing.assert_array_equal(most, last)


@tilec.kernel
def filled(x: tl.Array[tl.float32, int, int], out: tl.Array[tl.float32, int, int], n: int) -> None:
    m = (tl.arange(16) < n)[:, None] | (tl.arange(32) < 4)
    tl.store(out, (0, 0), tl.load(x, (2, -1), (16, 32), mask=m, fill=-1.5))


@pytest.mark.parametrize("n", [0, 7, 16])
def test_fill_of_mask_and_bounds(n: int) -> None:
    x = RANDOM.standard_normal((12, 20)).astype(np.float32)
    out = np.zeros((16, 32), np.float32)
    filled[1](x, out, n)
    row, col = np.meshgrid(np.arange(16), np.arange(32), indexing="ij")
    read = ((row < n) | (col < 4)) & (row + 2 < 12) & (col >= 1) & (col - 1 < 20)
    expected = np.where(read, x[np.clip(row + 2, 0, 11), np.clip(col - 1, 0, 19)], -1.5)
    np.testing.assert_array_equal(out, expected)


@tilec.kernel
def routed(
    x: tl.Array[tl.float16, int, int],
    ids: tl.Array[tl.int32, int],
    w: tl.Array[tl.float16, int, int],
    out: tl.Array[tl.float32, int, int],
) -> None:
    rows = tl.load(ids, 0, 64, fill=-1)
    acc = tl.zeros((64, 64))
    for k in range(0, x.shape[1], 32):
        acc = tl.dot(tl.load(x, (rows, k), (64, 32)), tl.load(w, (k, 0), (32, 64)), acc)
    tl.store(out, (rows, 0), acc)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_rows_into_a_product(target: str) -> None:
    """Rows gathered for a product, whose result goes back to where they came from."""
    x = RANDOM.integers(-4, 5, (90, 70)).astype(np.float16)
    w = RANDOM.integers(-4, 5, (70, 64)).astype(np.float16)
    ids = RANDOM.permutation(90)[:50].astype(np.int32)
    out = np.zeros((90, 64), np.float32)
    routed.using(target=target)[1](x, ids, w, out)
    expected = np.zeros((90, 64), np.float32)
    expected[ids] = x[ids].astype(np.float32) @ w.astype(np.float32)
    np.testing.assert_array_equal(out, expected)


@tilec.kernel
def swapped(x: tl.Array[tl.int32, int], ids: tl.Array[tl.int32, int], rounds: int) -> None:
    at = tl.load(ids, 0, 256)
    for _ in range(rounds):
        tl.store(x, 0, tl.load(x, at, 256))


@pytest.mark.parametrize("rounds", [1, 5])
def test_what_others_store_is_gathered(rounds: int) -> None:
    """Barriers stand between the accesses of different threads."""
    x, ids = RANDOM.integers(0, 999, 256).astype(np.int32), RANDOM.permutation(256).astype(np.int32)
    expected = x.copy()
    for _ in range(rounds):
        expected = expected[ids]
    report = swapped[1](x, ids, rounds)
    assert report.ok, report.findings
    np.testing.assert_array_equal(x, expected)


@tilec.kernel
def scalar(x: tl.Array[tl.float32, int], out: tl.Array[tl.float32, int], i: int) -> None:
    tl.store(out, 0, tl.zeros(32) + tl.load(x, i, (), fill=7))


@pytest.mark.parametrize("i", [0, 4, 5, -1])
def test_a_scalar(i: int) -> None:
    x, out = RANDOM.standard_normal(5).astype(np.float32), np.zeros(32, np.float32)
    scalar[1](x, out, i)
    np.testing.assert_array_equal(out, x[i] if 0 <= i < 5 else 7)


def test_accesses_are_wide() -> None:
    """A row's elements go 16 bytes at once, whatever the row."""
    memory = np.zeros(160 * 64 + 64, np.float16)
    first = -memory.ctypes.data % 128 // 2
    table = memory[first : first + 128 * 64].reshape(128, 64)
    out = memory[first + 128 * 64 : first + 144 * 64].reshape(16, 64)
    ptx = rows_at_once.compile(table, np.zeros(16, np.int32), out).ptx
    assert ptx.count("ld.global.v4.b32") == 1
    assert "ld.global.b16" not in ptx


@tilec.kernel(warps=4)
def rows_at_once(
    table: tl.Array[tl.float16, int, int],
    ids: tl.Array[tl.int32, int],
    out: tl.Array[tl.float16, int, int],
) -> None:
    tl.store(out, (0, 0), tl.load(table, (tl.load(ids, 0, 16), 0), (16, 64)))


@pytest.mark.skipif(not tools("ptxas"), reason="no ptxas")
@pytest.mark.parametrize("target", TARGETS)
def test_it_is_assembled(target: str) -> None:
    compiled = counted.using(target=target).compile(
        np.zeros(9, np.int32), np.zeros(9, np.float32), np.zeros(9, np.int32), 9
    )
    assert compiled.cubin


@tilec.kernel
def beside(x: tl.Array[tl.int32, int, int], order: tl.Array[tl.int32, int], y: tl.AnyArray) -> None:
    at = tl.load(order, 0, 4)
    tl.store(y, 0, tl.load(x, (-1, at), 4, fill=5))
    tl.store(y, 4, tl.load(x, (tl.program_id(0) + x.shape[0], at), 4, fill=6))
    tl.store(y, 8, tl.load(x, (tl.program_id(0) + 1, at), 4, fill=7))


def test_fill_where_a_number_before_the_indices_is_outside() -> None:
    x, y = np.arange(6, dtype=np.int32).reshape(2, 3), np.zeros(12, np.int32)
    beside[1](x, np.array([0, 2, -1, 1], np.int32), y)
    np.testing.assert_array_equal(y, [*[5] * 4, *[6] * 4, 3, 5, 7, 4])
