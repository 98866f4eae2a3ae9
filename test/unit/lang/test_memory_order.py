"""Kernels that load what other threads have stored: barriers where they are needed, not elsewhere.

Arrays that share no memory at the launch are compiled for as such. Runs are warp by warp as well,
in orders that seeds decide: without a barrier warps would see what is not there yet, or no more.
"""

from typing import Any

import numpy as np
import pytest
import tilec
import tilec.lang as tl
from tilec import sim
from tilec.launch.arguments import passed

Vector = tl.Array[tl.float32, int]
Matrix = tl.Array[tl.float32, int, int]


def barriers(kernel: Any, *arguments: Any) -> int:
    return kernel.compile(*arguments).ptx.count("bar.sync")


def run(kernel: Any, arguments: list[Any], order: int | None) -> None:
    compiled = kernel.compile(*arguments)
    (found,) = compiled.kernels
    report = sim.launch(
        compiled.ptx,
        found.name,
        1,
        found.block,
        passed(found, arguments),
        arch=compiled.target.name,
        dynamic_smem=found.dynamic_shared,
        order=order,
    )
    assert not report.findings


@tilec.kernel
def shift(a: Vector, rounds: int) -> None:
    for _ in range(rounds):
        tl.store(a, 0, tl.load(a, 1, 1024) + 1)


@pytest.mark.parametrize("order", [None, *range(4)])
@pytest.mark.parametrize("target", ["sm_75", "sm_80", "sm_90a"])
def test_shifts_in_place(target: str, order: int | None) -> None:
    a = np.arange(1100, dtype=np.float32)
    wanted = a.copy()
    for _ in range(3):
        wanted[:1024] = wanted[1:1025] + 1
    kernel = shift.using(target=target)
    assert barriers(kernel, a, 3) == 2  # for what is loaded, and for what is stored
    run(kernel, [a, 3], order)
    np.testing.assert_array_equal(a, wanted)


@tilec.kernel
def scratch(x: Matrix, held: Matrix, y: Matrix) -> None:
    tl.store(held, (0, 0), tl.load(x, (0, 0), (32, 32)) * 2)
    tl.store(y, (0, 0), tl.load(held, (0, 0), (32, 32)).T)


@pytest.mark.parametrize("order", [None, *range(4)])
def test_memory_as_scratch(order: int | None) -> None:
    x = np.random.default_rng(0).standard_normal((32, 32)).astype(np.float32)
    held, y = np.zeros((2, 32, 32), np.float32)
    run(scratch, [x, held, y], order)
    np.testing.assert_array_equal(y, 2 * x.T)
    for _ in range(2):  # in place, all of it
        run(scratch, [y, y, y], order)
    np.testing.assert_array_equal(y, 8 * x.T)


@tilec.kernel
def double(x: Matrix, y: Matrix) -> None:
    for i in range(0, x.shape[0], 16):
        tl.store(y, (i, 0), tl.load(x, (i, 0), (16, 16)) * 2)


def test_arrays_apart_take_no_barrier() -> None:
    both = np.zeros((64, 32), np.float32)
    left, right = both[:, :16], both[:, 16:]
    assert barriers(double, np.zeros((64, 16), np.float32), np.zeros((64, 16), np.float32)) == 0
    assert barriers(double, left, right) == 0  # they interleave, and have no element in common
    assert barriers(double, left, both[:, 15:31]) == 2
    assert barriers(double, both, both) == 2
    assert barriers(double) == 2  # annotations do not say
    assert "llvm.noalias" in str(double.build(left, right))
    assert "llvm.noalias" not in str(double.build(both, both))


def test_arrays_that_are_read_may_be_one() -> None:
    @tilec.kernel
    def add(x: Matrix, y: Matrix, z: Matrix) -> None:
        tl.store(z, (0, 0), tl.load(x, (0, 0), (16, 16)) + tl.load(y, (0, 0), (16, 16)))

    x, z = np.ones((2, 16, 16), np.float32)
    assert barriers(add, x, x, z) == 0
    add[1](x, x, z)
    np.testing.assert_array_equal(z, 2)
    add[1](x, z, z)  # compiled anew
    np.testing.assert_array_equal(z, 3)


def test_explain() -> None:
    @tilec.kernel
    def copy(x: Vector, y: Vector) -> None:
        tl.store(y, 0, tl.load(x, 0, 16))

    x, y = np.zeros((2, 16), np.float32)
    copy[1](x, y)
    alike = "address a multiple of 16 bytes, extents of [4], strides of [1]"
    apart = f"  x: float32 [?], strides [1]; {alike}, no memory in common with other arrays"
    assert copy.explain(x, y).splitlines()[1] == apart
    assert copy.explain(x, x).splitlines()[3:] == [
        "to be compiled; it differs from the nearest before in",
        "  x: maybe some memory in common with other arrays, there none",
        "  y: maybe some memory in common with other arrays, there none",
    ]
