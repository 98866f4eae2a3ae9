"""Rows at tiles of indices that TMA copies from sm_100 on, against numpy on the simulator."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec.isa import target as target_of

EXAMPLES = Path(__file__).parents[3] / "examples" / "kernels"
LONG = np.iinfo(np.int32)
INDICES = {
    "shuffled": [(37 * at) % 50 for at in range(32)],
    "repeated": [7, 7, 0, 49, 49, 3, 3, 3] * 4,
    "outside": [-1, 50, 51, LONG.max, LONG.min, 12, 49, 0, -50, 20, 1, 2, 3, 4, -2, 99] * 2,
    "ragged": [at % 50 for at in range(70, 91)],  # 21 of 32 rows of the last CTA
}


@tilec.kernel
def product(
    x: tl.AnyArray,
    ids: tl.AnyArray,
    keep: tl.AnyArray,
    w: tl.AnyArray,
    y: tl.AnyArray,
    depth: tl.Constant[int] = 32,
    tma: tl.Constant[Any] = None,
) -> None:
    """y = (x[ids] where keep, else 0) @ w."""
    first = tl.program_id(0) * 32
    rows = tl.load(ids, first, 32, fill=-1)
    kept = (tl.load(keep, first, 32) > 0)[:, None]
    acc = tl.zeros((32, 64))
    for k in range(0, x.shape[1], depth):
        held = tl.load(x, (rows, k), (32, depth), mask=kept, tma=tma)
        acc = tl.dot(held, tl.load(w, (k, 0), (depth, 64)), acc)
    tl.store(y, (first, 0), acc)


def gathered(x: np.ndarray, ids: np.ndarray, keep: np.ndarray) -> np.ndarray:
    inside = (ids >= 0) & (ids < len(x)) & (keep > 0)
    zero = np.zeros((), x.dtype)
    return np.where(inside[:, None], x[np.where(inside, ids, 0)], zero)


def operands(name: str, dtype: Any, depth: int) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(1)
    ids = np.array(INDICES[name], np.int32)
    x = random.integers(-3, 4, (50, depth)).astype(dtype)
    w = random.integers(-3, 4, (depth, 64)).astype(dtype)
    return x, ids, random.integers(0, 4, len(ids)).astype(np.int32), w


def ptx(kernel: Any, *arrays: np.ndarray, target: str = "sm_100a", **constants: Any) -> str:
    text: str = kernel.compile(*arrays, **constants, target=target).ptx
    return text


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("target", ["sm_100a", pytest.param("sm_120a", marks=pytest.mark.slow)])
@pytest.mark.parametrize("warps", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_factors_of_products(name: str, target: str, warps: int) -> None:
    """By default: in each round rows of the next are copied, from the first on."""
    x, ids, keep, w = operands(name, np.float16, 104)  # the last round has 8 columns
    y = np.empty((len(ids), 64), np.float32)
    report = product.using(target=target, warps=warps)[-(-len(ids) // 32)](x, ids, keep, w, y)
    assert report is not None
    assert not report.findings
    wanted = gathered(x, ids, keep).astype(np.float32) @ w.astype(np.float32)
    np.testing.assert_array_equal(y, wanted)
    assert "tile::gather4" in ptx(product.using(warps=warps), x, ids, keep, w, y, target=target)


@pytest.mark.slow
@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize(
    ("dtype", "k", "depth"),
    [
        (np.float16, 16, 16),  # one round, of lines of 32 bytes
        (ml_dtypes.bfloat16, 64, 64),
        (np.float16, 128, 256),  # two panels
        (ml_dtypes.float8_e4m3fn, 64, 192),
        (np.int8, 32, 96),
    ],
)
def test_shapes(name: str, dtype: Any, k: int, depth: int) -> None:
    x, ids, keep, w = operands(name, dtype, depth)
    y = np.empty((len(ids), 64), np.int32 if dtype == np.int8 else np.float32)
    kernel = product_of_bytes if dtype == np.int8 else product
    found = kernel.using(target="sm_100a")
    report = found[-(-len(ids) // 32)](x, ids, keep, w, y, depth=k)
    assert report is not None
    assert not report.findings
    wanted = gathered(x, ids, keep).astype(y.dtype) @ w.astype(y.dtype)
    np.testing.assert_array_equal(y, wanted)
    assert "tile::gather4" in ptx(found, x, ids, keep, w, y, depth=k)


@tilec.kernel
def product_of_bytes(
    x: tl.AnyArray,
    ids: tl.AnyArray,
    keep: tl.AnyArray,
    w: tl.AnyArray,
    y: tl.AnyArray,
    depth: tl.Constant[int] = 32,
) -> None:
    first = tl.program_id(0) * 32
    rows = tl.load(ids, first, 32, fill=-1)
    kept = (tl.load(keep, first, 32) > 0)[:, None]
    acc = tl.zeros((32, 64), tl.int32)
    for k in range(0, x.shape[1], depth):
        held = tl.load(x, (rows, k), (32, depth), mask=kept)
        acc = tl.dot(held, tl.load(w, (k, 0), (depth, 64)), acc)
    tl.store(y, (first, 0), acc)


@tilec.kernel
def in_two_loops(x: tl.AnyArray, ids: tl.AnyArray, w: tl.AnyArray, y: tl.AnyArray) -> None:
    """Each CTA takes 32 rows after the other: numbers and stages are written again."""
    for first in range(0, ids.shape[0], 32):
        rows = tl.load(ids, first, 32, fill=-1)
        acc = tl.zeros((32, 64))
        for k in range(0, x.shape[1], 32):
            acc = tl.dot(tl.load(x, (rows, k), (32, 32)), tl.load(w, (k, 0), (32, 64)), acc)
        tl.store(y, (first, 0), acc)


@tilec.kernel
def other_rows_each_round(x: tl.AnyArray, ids: tl.AnyArray, w: tl.AnyArray, y: tl.AnyArray) -> None:
    """y += x[ids of the round] @ w: no round can copy for the next."""
    acc = tl.zeros((32, 64))
    for first in range(0, ids.shape[0], 32):
        rows = tl.load(ids, first, 32, fill=-1)
        acc = tl.dot(tl.load(x, (rows, 32), (32, 32)), tl.load(w, (32, 0), (32, 64)), acc)
    tl.store(y, (0, 0), acc)


@tilec.kernel
def of_the_right(x: tl.AnyArray, ids: tl.AnyArray, w: tl.AnyArray, y: tl.AnyArray) -> None:
    """y = w.T[:, :32] @ x[ids], without a loop."""
    rows = tl.load(ids, 0, 32)
    left = tl.load(w, (0, 0), (32, 64)).T
    tl.store(y, (0, 0), tl.dot(left, tl.load(x, (rows, 0), (32, 64)), tl.zeros((64, 64))))


@pytest.mark.parametrize(
    "kernel", [in_two_loops, other_rows_each_round, of_the_right], ids=lambda k: k.names[0]
)
def test_loops(kernel: Any) -> None:
    random = np.random.default_rng(2)
    x = random.integers(-3, 4, (50, 96)).astype(np.float16)
    w = random.integers(-3, 4, (96, 64)).astype(np.float16)
    ids = random.integers(-3, 53, 91).astype(np.int32)
    rows = gathered(x, ids, np.ones(91)).astype(np.float32)
    wide = w.astype(np.float32)
    y = np.empty((96, 64), np.float32)
    if kernel is in_two_loops:
        wanted = np.concatenate([rows @ wide, np.zeros((5, 64), np.float32)])
    elif kernel is other_rows_each_round:
        y = np.empty((32, 64), np.float32)
        padded = np.concatenate([rows, np.zeros((5, 96), np.float32)])[:, 32:64]
        wanted = padded.reshape(3, 32, 32).sum(0) @ wide[32:64]
    else:
        y = np.empty((64, 64), np.float32)
        wanted = wide[:32].T @ rows[:32, :64]
    report = kernel.using(target="sm_100a", warps=4)[1](x, ids, w, y)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(y, wanted)
    assert "tile::gather4" in ptx(kernel, x, ids, w, y)


@tilec.kernel
def moved(
    x: tl.AnyArray, to: tl.AnyArray, keep: tl.AnyArray, y: tl.AnyArray, tma: tl.Constant[Any] = None
) -> None:
    """y[to] = x where keep."""
    first = tl.program_id(0) * 32
    rows = tl.load(to, first, 32, fill=-1)
    kept = (tl.load(keep, first, 32) > 0)[:, None]
    for col in range(0, x.shape[1], 64):
        tile = tl.load(x, (first, col), (32, 64))
        tl.store(y, (rows, col), tile, mask=kept, tma=tma)


@pytest.mark.parametrize("name", ["outside", "ragged"])
@pytest.mark.parametrize(
    "dtype", [np.float16, *(pytest.param(t, marks=pytest.mark.slow) for t in (np.int8, np.uint16))]
)
def test_scatters(name: str, dtype: Any) -> None:
    to = np.array(list(dict.fromkeys(INDICES[name])), np.int32)  # each once
    random = np.random.default_rng(3)
    x = random.integers(0, 99, (len(to), 144)).astype(dtype)
    y = random.integers(0, 99, (50, 144)).astype(dtype)
    keep = random.integers(0, 4, len(to)).astype(np.int32)
    wanted = y.copy()
    there = (to >= 0) & (to < 50) & (keep > 0)
    wanted[to[there]] = x[there]
    report = moved.using(target="sm_100a")[-(-len(to) // 32)](x, to, keep, y, tma=True)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(y, wanted)
    assert "tile::scatter4" in ptx(moved, x, to, keep, y, tma=True)


@tilec.kernel
def taken(x: tl.AnyArray, ids: tl.AnyArray, y: tl.AnyArray, tma: tl.Constant[Any] = None) -> None:
    rows = tl.load(ids, 0, 32)
    tl.store(y, (0, 0), tl.load(x, (rows, -16), (32, 32), fill=9, tma=tma) + 1)


def test_pins() -> None:
    """A tile that no product takes is copied by TMA if the program says so; the result is equal."""
    x = np.random.default_rng(4).integers(0, 99, (50, 40)).astype(np.float16)
    ids, y = np.array(INDICES["outside"], np.int32), np.empty((32, 32), np.float16)
    padded = np.pad(x, ((0, 0), (16, 0)), constant_values=9)[:, :32]
    inside = (ids >= 0) & (ids < 50)
    wanted = np.where(inside[:, None], padded[np.where(inside, ids, 0)], 9) + 1
    for tma in (None, True, False):
        report = taken.using(target="sm_100a")[1](x, ids, y, tma=tma)
        assert report is not None
        assert not report.findings
        np.testing.assert_array_equal(y, wanted)
        assert ("tile::gather4" in ptx(taken, x, ids, y, tma=tma)) == (tma is True)
    arrays = [*operands("shuffled", np.float16, 64), np.empty((32, 64), np.float32)]
    assert "tile::gather4" not in ptx(product, *arrays, tma=False)


@pytest.mark.parametrize("shape", [(0, 64), (50, 0), (1, 64)])
def test_tables_without_elements(shape: tuple[int, int]) -> None:
    """No tensor map describes them: the launch takes a kernel without. Of one row there is one."""
    x, ids, keep, w = operands("outside", np.float16, 64)
    x, w, y = x[: shape[0], : shape[1]], w[: shape[1]], np.empty((32, 64), np.float32)
    report = product.using(target="sm_100a")[1](x, ids, keep, w, y)
    assert report is not None
    assert not report.findings
    wanted = gathered(x, ids, keep).astype(np.float32) if len(x) else np.zeros((32, 64), np.float32)
    np.testing.assert_array_equal(y, wanted @ w.astype(np.float32))


@tilec.kernel
def product_of_floats(x: tl.AnyArray, ids: tl.AnyArray, w: tl.AnyArray, y: tl.AnyArray) -> None:
    acc = tl.zeros((32, 64))
    for k in range(0, x.shape[1], 32):
        held = tl.load(x, (tl.load(ids, 0, 32), k), (32, 32)).astype(tl.float16)
        acc = tl.dot(held, tl.load(w, (k, 0), (32, 64)), acc)
    tl.store(y, (0, 0), acc)


def test_factors_that_are_cast() -> None:
    """Elements of f32 are not loaded by ldmatrix; a load in the loop gives rows of the round."""
    x, ids, _, w = operands("repeated", np.float16, 64)
    x, y = x.astype(np.float32), np.empty((32, 64), np.float32)
    report = product_of_floats.using(target="sm_100a")[1](x, ids, w, y)
    assert report is not None
    assert not report.findings
    np.testing.assert_array_equal(y, x[ids] @ w.astype(np.float32))
    assert "tile::gather4" in ptx(product_of_floats, x, ids, w, y)


def test_targets_without_it() -> None:
    """Where there is no such instruction a program means the same, pinned or not."""
    arrays = [*operands("outside", np.float16, 64), np.empty((32, 64), np.float32)]
    assert "tile::gather4" not in ptx(product, *arrays, tma=True, target="sm_90a")
    x, ids, keep, _, _ = arrays
    scatters = ptx(moved, x[:32], ids, keep, x.copy(), tma=True, target="sm_120a")
    assert "tile::scatter4" not in scatters


def test_they_assemble(assemblers_for: Callable[..., list[Any]]) -> None:
    arrays = [*operands("shuffled", np.float16, 64), np.empty((32, 64), np.float32)]
    x, ids, keep, _, _ = arrays
    texts = [
        (ptx(product, *arrays, target="sm_120a"), "sm_120a"),
        (ptx(product, *arrays, target="sm_100a"), "sm_100a"),
        (ptx(moved, x[:32], ids, keep, x.copy()), "sm_100a"),
    ]
    for text, chip in texts:
        assert "tile::gather4" in text or "tile::scatter4" in text
        for ptxas in assemblers_for(target_of(chip)):
            status, report = ptxas.run(text, chip)
            assert status == 0, report


def test_example() -> None:
    """A mixture of experts multiplies rows that TMA has gathered."""
    experts = runpy.run_path(str(EXAMPLES / "moe.py"))["experts"]
    x, weights = np.zeros((45, 64), np.float16), np.zeros((4, 64, 40), np.float16)
    order, shares = np.zeros(90, np.int32), np.zeros(90, np.float32)
    starts, y = np.zeros(5, np.int32), np.zeros((45, 40), np.float32)
    assert "tile::gather4" in ptx(experts, x, weights, order, starts, shares, y, TOP=2)


WRONG = {
    "tl.load(x, (0, 0), (16, 16), tma=True)": r"tma is for rows at a tile of indices",
    "tl.store(x, (0, 0), tl.zeros((16, 16), x.dtype), tma=False)": r"tma is for rows at a tile",
    "tl.load(x, (tl.arange(16), 0), (16, 16), tma=4)": r"tma is True, False or None, not 4",
}


@pytest.mark.parametrize("line", WRONG)
def test_wrong_use(define: Callable[[str], Any], line: str) -> None:
    wrong = define(
        f"@tilec.kernel\ndef kernel(x: tl.Array[tl.float16, int, int]) -> None:\n    {line}\n"
    )
    with pytest.raises(tilec.TilecError, match=rf":3:\d+: error: .*{WRONG[line]}"):
        wrong.compile()
