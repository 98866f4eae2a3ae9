"""Arrays in a CTA's shared memory: loads, stores and atomics, in program order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

RANDOM = np.random.default_rng(0)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_120a")


@tilec.kernel
def histogram(
    x: tl.Array[tl.int32, int], counts: tl.Array[tl.int32, int], bins: tl.Constant[int]
) -> None:
    own = tl.shared_array(bins, tl.int32)
    tl.store(own, 0, tl.zeros(bins, tl.int32))
    for at in range(tl.program_id(0) * 256, x.shape[0], 256 * tl.num_programs(0)):
        tl.atomic_add(own, tl.load(x, at, 256, fill=-1), 1)
    tl.atomic_add(counts, 0, tl.load(own, 0, bins))


@pytest.mark.parametrize("target", TARGETS)
def test_a_histogram_of_each_cta(target: str) -> None:
    x = RANDOM.integers(-3, 70, 3000).astype(np.int32)
    counts = np.zeros(64, np.int32)
    report = histogram.using(target=target)[3](x, counts, bins=64)
    assert report.ok, report.findings
    np.testing.assert_array_equal(counts, np.bincount(x[(x >= 0) & (x < 64)], minlength=64))


def test_its_rounds_do_not_wait_for_each_other() -> None:
    """One barrier when the bins are empty, one when all have counted."""
    ptx = histogram.compile(np.zeros(9, np.int32), np.zeros(9, np.int32), bins=64).ptx
    assert ptx.count("bar.sync") == 2
    assert "red.relaxed.cta.shared.add.u32" in ptx
    assert ptx.count("red.relaxed.gpu.global.add.u32") == 1


@tilec.kernel
def grouped(x: tl.Array[tl.int32, int], order: tl.Array[tl.int32, int, int]) -> None:
    heads = tl.shared_array(8, tl.int32)
    places = tl.shared_array((8, 64), tl.int32)
    tl.store(heads, 0, tl.zeros(8, tl.int32))
    tl.store(places, (0, 0), tl.full((8, 64), -1, tl.int32))
    keys = tl.load(x, 0, 64)
    slot = tl.atomic_add(heads, keys, 1)
    tl.store(places, (keys, slot), tl.arange(64))
    tl.store(order, (0, 0), tl.load(places, (0, 0), (8, 64)))


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_slots_by_old_values_and_a_scatter(target: str, warps: int) -> None:
    x, order = RANDOM.integers(0, 8, 64).astype(np.int32), np.zeros((8, 64), np.int32)
    report = grouped.using(target=target, warps=warps)[1](x, order)
    assert report.ok, report.findings
    for key, row in enumerate(order):
        np.testing.assert_array_equal(np.sort(row[row >= 0]), np.flatnonzero(x == key))


@tilec.kernel
def applied(
    x: tl.AnyArray, given: tl.AnyArray, old: tl.AnyArray, left: tl.AnyArray, fn: tl.Constant[Any]
) -> None:
    own = tl.shared_array(48, x.dtype)
    tl.store(own, 0, tl.load(x, 0, 64))  # what lies outside is not stored
    tl.store(old, 0, fn(own, 3, tl.load(given, 0, 64)))
    tl.store(left, 0, tl.load(own, 0, 64, fill=7))


Function = Callable[..., Any]
FUNCTIONS: dict[str, tuple[Function, Function, tuple[str, ...]]] = {
    "add": (tl.atomic_add, np.add, ("int32", "uint64", "float32", "float64", "float16")),
    "max": (tl.atomic_max, np.maximum, ("int32", "uint64")),
    "min": (tl.atomic_min, np.minimum, ("uint32", "int64")),
    "and": (tl.atomic_and, np.bitwise_and, ("int32",)),
    "or": (tl.atomic_or, np.bitwise_or, ("int64",)),
    "xor": (tl.atomic_xor, np.bitwise_xor, ("uint32",)),
    "xchg": (tl.atomic_xchg, lambda _, b: b, ("float32", "uint64")),
}


@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name, (_, _, types) in FUNCTIONS.items() for dtype in types],
)
def test_old_values(warps: int, name: str, dtype: str) -> None:
    """Also of tiles that several warps hold, and beyond an extent that is no power of two."""
    function, reference, _ = FUNCTIONS[name]
    x, given = RANDOM.integers(0, 99, (2, 64)).astype(dtype)
    old, left = np.full((2, 64), 5).astype(dtype)
    report = applied.using(warps=warps)[1](x, given, old, left, function)
    assert report.ok, report.findings
    np.testing.assert_array_equal(old, [*x[3:48], *[0] * 19])
    np.testing.assert_array_equal(left, [*x[:3], *reference(x[3:48], given[:45]), *[7] * 16])


@tilec.kernel
def swapped(x: tl.AnyArray, given: tl.AnyArray, left: tl.AnyArray) -> None:
    own = tl.shared_array(64, x.dtype)
    tl.store(own, 0, tl.load(x, 0, 64))
    tl.atomic_cas(own, 63 - tl.arange(64), 2, tl.load(given, 0, 64), mask=tl.arange(64) < 50)
    tl.store(left, 0, tl.load(own, 0, 64))


@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint64])
def test_compare_and_swap(dtype: Any) -> None:
    x, given = RANDOM.integers(0, 4, (2, 64)).astype(dtype)
    left = np.zeros(64, dtype)
    assert swapped[1](x, given, left).ok
    kept = np.arange(64)[::-1] < 50
    np.testing.assert_array_equal(left, np.where((x == 2) & kept, given[::-1], x))


@tilec.kernel(warps=8)
def product(
    a: tl.Array[tl.float16, int, int],
    b: tl.Array[tl.float16, int, int],
    c: tl.Array[tl.float32, int, int],
    signs: tl.Array[tl.int32, int],
) -> None:
    own = tl.shared_array(2, tl.int32)
    tl.store(own, 0, tl.zeros(2, tl.int32))
    row, col = tl.program_id(1) * 128, tl.program_id(0) * 128
    acc = tl.zeros((128, 128))
    for k in range(0, a.shape[1], 64):
        acc = tl.dot(tl.load(a, (row, k), (128, 64)), tl.load(b, (k, col), (64, 128)), acc)
    tl.store(c, (row, col), acc)
    tl.atomic_add(own, tl.ravel((acc > 0).astype(tl.int32)), 1)
    tl.atomic_add(signs, 0, tl.load(own, 0, 2))


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_beside_the_stages_of_a_product(target: str) -> None:
    """The array keeps its place while buffers of the pipeline share theirs."""
    a, b = RANDOM.standard_normal((2, 128, 128)).astype(np.float16)
    c, signs = np.zeros((128, 128), np.float32), np.zeros(2, np.int32)
    report = product.using(target=target)[1](a, b, c, signs)
    assert report.ok, report.findings
    np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), atol=1e-3)
    np.testing.assert_array_equal(signs, [(c <= 0).sum(), (c > 0).sum()])


@tilec.kernel
def operand(a: tl.AnyArray, b: tl.AnyArray, c: tl.AnyArray) -> None:
    own = tl.shared_array((64, 64), tl.float16)
    tl.store(own, (0, 0), tl.load(a, (0, 0), (64, 64)))
    acc = tl.zeros((64, 64))
    for k in range(0, 64, 16):
        acc = tl.dot(tl.load(own, (0, k), (64, 16)), tl.load(b, (k, 0), (16, 64)), acc)
    tl.store(c, (0, 0), acc)


@pytest.mark.parametrize("target", ["sm_80", "sm_90a"])
def test_as_an_operand_of_products(target: str) -> None:
    a, b = RANDOM.standard_normal((2, 64, 64)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    report = operand.using(target=target)[1](a, b, c)
    assert report.ok, report.findings
    np.testing.assert_allclose(c, a.astype(float) @ b.astype(float), atol=1e-3)


@tilec.kernel
def many(x: tl.Array[tl.float32, int], n: tl.Constant[int]) -> None:
    own = tl.shared_array((n, 1024))
    tl.store(own, (0, 0), tl.zeros((1, 1024)))
    tl.store(x, 0, tl.load(own, (0, 0), (1024,)))


def test_more_than_a_kernel_has_without_asking() -> None:
    x = np.ones(1024, np.float32)
    report = many.using(target="sm_80")[1](x, n=20)
    assert report.ok, report.findings
    assert many.using(target="sm_80").compile(x, n=20).abi.kernels[0].dynamic_shared == 20 * 4096
    assert not x.any()


def test_more_than_there_is() -> None:
    with pytest.raises(tl.KernelError, match=r"409600 bytes; sm_80 has 166912 per CTA"):
        many.using(target="sm_80").compile(np.ones(9, np.float32), n=100)


@tilec.kernel
def unset(x: tl.Array[tl.int32, int]) -> None:
    own = tl.shared_array(64, tl.int32)
    tl.store(x, 0, tl.load(own, 0, 64))


def test_what_nobody_stored_is_found() -> None:
    with pytest.raises(tilec.TilecError, match="which nothing has written"):
        unset[1](np.zeros(64, np.int32))


WRONG: dict[str, tuple[Any, Any, str]] = {
    "extent": (0, tl.int32, r"extents of a shared array are numbers of 1 or more.* 0 in \(0,\)"),
    "a float": (8.0, tl.int32, r"extents of a shared array are numbers of 1 or more.* 8\.0 in"),
    "too many": (1 << 64, tl.int32, r"numbers of 1 or more, below 2\^31, .*; 18446744073709551616"),
    "known when it runs": ("n", tl.int32, "known when the kernel is compiled; intp in"),
    "no dimensions": ((), tl.int32, "needs at least one dimension"),
    "narrow": (64, tl.int4, "elements of int4 share a byte: make the array of tl.uint8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_misuse(name: str) -> None:
    shape, dtype, message = WRONG[name]

    @tilec.kernel
    def wrong(x: tl.Array[tl.int32, int], n: int) -> None:
        tl.shared_array(n if shape == "n" else shape, dtype)

    with pytest.raises(tl.KernelError, match=message):
        wrong.compile(np.zeros(9, np.int32), 3)


def test_outside_of_a_kernel() -> None:
    with pytest.raises(tilec.TilecError, match="kernel"):
        tl.shared_array(64)
