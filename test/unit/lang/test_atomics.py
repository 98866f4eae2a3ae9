"""Atomic operations that give what memory held, their order and scope; locks and tickets."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl

RANDOM = np.random.default_rng(0)
TARGETS = ("sm_75", "sm_80", "sm_90a", "sm_120a")


@tilec.kernel
def applied(x: tl.AnyArray, given: tl.AnyArray, old: tl.AnyArray, fn: tl.Constant[Any]) -> None:
    tl.store(old, 0, fn(x, 3, tl.load(given, 0, 64)))


FUNCTIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[str, ...]]] = {
    "add": (tl.atomic_add, np.add, ("int32", "uint64", "float32", "float64", "float16")),
    "max": (tl.atomic_max, np.maximum, ("int32", "uint32", "int64")),
    "min": (tl.atomic_min, np.minimum, ("int32", "uint32", "uint64")),
    "and": (tl.atomic_and, np.bitwise_and, ("int32", "uint64")),
    "or": (tl.atomic_or, np.bitwise_or, ("uint32", "int64")),
    "xor": (tl.atomic_xor, np.bitwise_xor, ("int32", "int64")),
    "xchg": (tl.atomic_xchg, lambda _, b: b, ("int32", "float32", "float64", "uint64")),
}


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("warps", [1, 4])
@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, dtype) for name, (_, _, types) in FUNCTIONS.items() for dtype in types],
)
def test_old_values(target: str, warps: int, name: str, dtype: str) -> None:
    """Also of tiles that several warps hold: four warps have 64 elements twice."""
    function, reference, _ = FUNCTIONS[name]
    x, given = RANDOM.integers(0, 99, (2, 60)).astype(dtype)
    given = np.append(given, given[:4])
    before, old = x.copy(), np.full(64, 7).astype(dtype)
    report = applied.using(target=target, warps=warps)[1](x, given, old, function)
    assert report.ok, report.findings
    np.testing.assert_array_equal(old[:57], before[3:])
    np.testing.assert_array_equal(old[57:], 0)
    np.testing.assert_array_equal(x, [*before[:3], *reference(before[3:], given[:57])])


@tilec.kernel
def swapped(
    x: tl.AnyArray, expected: tl.AnyArray, given: tl.AnyArray, old: tl.AnyArray, n: int
) -> None:
    at = tl.load(expected, 0, 64)
    kept = tl.arange(64) < n
    order = 63 - tl.arange(64)
    tl.store(old, 0, tl.atomic_cas(x, order, at, tl.load(given, 0, 64), mask=kept))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", [np.int16, np.int32, np.uint64])
def test_compare_and_swap(target: str, dtype: Any) -> None:
    x, given = RANDOM.integers(0, 4, (2, 64)).astype(dtype)
    expected = RANDOM.integers(0, 4, 64).astype(dtype)
    before, old = x.copy(), np.zeros(64, dtype)
    swapped.using(target=target)[1](x, expected, given, old, 50)
    there, kept = before[::-1], np.arange(64) < 50
    np.testing.assert_array_equal(old, np.where(kept, there, 0))
    np.testing.assert_array_equal(x[::-1], np.where((there == expected) & kept, given, there))


@tilec.kernel
def last_block(
    x: tl.Array[tl.int32, int],
    parts: tl.Array[tl.int32, int],
    tickets: tl.Array[tl.int32, int],
    total: tl.Array[tl.int32, int],
) -> None:
    block = tl.program_id(0)
    tl.store(parts, block, tl.load(x, block * 64, 64).sum())
    tl.debug_barrier()
    ticket = tl.atomic_add(tickets, 0, 1, sem="acq_rel")
    tl.debug_barrier()
    if ticket == tl.num_programs(0) - 1:
        tl.store(total, 0, tl.load(parts, 0, 64).sum())


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("warps", [1, 4])
def test_the_last_block_adds_up(target: str, warps: int) -> None:
    x = RANDOM.integers(-99, 99, 700).astype(np.int32)
    blocks = tl.cdiv(x.size, 64)
    parts, tickets, total = np.zeros(blocks, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)
    report = last_block.using(target=target, warps=warps)[blocks](x, parts, tickets, total)
    assert report.ok, report.findings
    assert (total[0], tickets[0]) == (x.sum(), blocks)


@tilec.kernel
def locked(lock: tl.Array[tl.int32, int], x: tl.Array[tl.int32, int]) -> None:
    while tl.atomic_cas(lock, 0, 0, 1, sem="acquire") != 0:
        pass
    tl.debug_barrier()
    tl.store(x, 0, tl.load(x, 0, 32) * 2 + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock, 0, 0, sem="release")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("warps", [1, 2])
def test_a_lock(target: str, warps: int) -> None:
    """What is under it is read and written by one CTA after the other."""
    lock, x = np.zeros(1, np.int32), np.zeros(32, np.int32)
    report = locked.using(target=target, warps=warps)[6](lock, x)
    assert report.ok, report.findings
    np.testing.assert_array_equal(x, 63)
    assert lock[0] == 0


@tilec.kernel
def unused(n: tl.Array[tl.int32, int], order: tl.Constant[str]) -> None:
    tl.atomic_add(n, 0, 1, sem=order)
    tl.atomic_max(n, tl.arange(32), 1)


def test_what_nobody_asks_for_is_not_given() -> None:
    n = np.zeros(32, np.int32)
    ptx = unused.compile(n, "relaxed").ptx
    assert ptx.count("red.relaxed.gpu.global") == 2
    assert "atom." not in ptx
    assert "atom.acq_rel.gpu.global.add.u32" in unused.compile(n, "acq_rel").ptx


@tilec.kernel
def words(n: tl.Array[tl.int32, int], sem: tl.Constant[str], scope: tl.Constant[str]) -> None:
    tl.store(n, 1, tl.atomic_add(n, 0, 1, sem=sem, scope=scope))


@pytest.mark.parametrize("sem", ["relaxed", "acquire", "release", "acq_rel"])
@pytest.mark.parametrize("scope", ["cta", "gpu", "sys"])
def test_order_and_scope(sem: str, scope: str) -> None:
    compiled = words.compile(np.zeros(2, np.int32), sem, scope)
    assert f"atom.{sem}.{scope}.global.add.u32" in compiled.ptx
