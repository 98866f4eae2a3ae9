"""What a kernel is promised of its arguments is checked at launch, and stands in the JSON."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tilec
from tilec.isa import LaunchError
from tilec.launch.abi import Abi, Promises

PROGRAM = """
!M = memref<?x?xf16, strided<[?, 1]>>
gpu.module @m {
  gpu.func @k(%a: !M {tile.aligned = 16 : i64, tile.sizes = array<i64: 1, 8>,
                      tile.strides = array<i64: 16, 1>}, %n: i32)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    gpu.return
  }
}
"""


@cache
def compiled() -> Any:
    return tilec.compile(PROGRAM, target="sm_80")


def launch(shape: tuple[int, int], width: int) -> None:
    memory = np.zeros((shape[0], width), np.float16)
    compiled().launch(memory[:, : shape[1]], 1, grid=1, device="sim")


def test_what_keeps_them() -> None:
    launch((3, 24), 32)
    launch((1, 8), 9)  # one row: nothing is behind a stride
    launch((0, 8), 9)


def test_a_size() -> None:
    with pytest.raises(LaunchError, match=r"sizes \[3, 20\].*multiples of \[1, 8\] \(tile.sizes\)"):
        launch((3, 20), 32)


def test_a_stride() -> None:
    with pytest.raises(LaunchError, match=r"strides \[24, 1\].*multiples of \[16, 1\]"):
        launch((3, 24), 24)


@pytest.mark.parametrize(
    ("number", "options", "reason"),
    [
        (None, {}, "argument 1 is None; the kernel takes i32"),
        (1, {"block": 64}, r"compiled for blocks of \(32, 1, 1\) threads, not \(64, 1, 1\)"),
        (1, {"block": "all"}, "block is 'all'; it takes one to three positive integers"),
        (1, {"grid": 1.5}, r"grid is 1\.5; it takes one to three positive integers"),
        (1, {"dynamic_smem": "all"}, "dynamic shared memory is a number of bytes, not 'all'"),
    ],
)
def test_launches_that_do_not_fit(number: Any, options: dict[str, Any], reason: str) -> None:
    memory = np.zeros((1, 8), np.float16)
    with pytest.raises(LaunchError, match=reason):
        compiled().launch(memory, number, **{"grid": 1, "device": "sim", **options})


def test_json() -> None:
    found = Abi.parse(str(compiled().abi))
    assert found.kernels == compiled().kernels
    array, number = found.kernels[0].arguments
    assert array.promised == Promises(16, (1, 8), (16, 1))
    assert "promised" not in number.json()


APART = """
!M = memref<?x?xf32, strided<[?, 1]>>
gpu.module @m {{
  gpu.func @k(%a: !M {a}, %b: !M {b}, %c: !M {c})
      kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %x = "tile.load"(%a, %z, %z) {{masked}} : (!M, index, index) -> tensor<16x16xf32>
    %y = "tile.load"(%b, %z, %z) {{masked}} : (!M, index, index) -> tensor<16x16xf32>
    %s = arith.addf %x, %y : tensor<16x16xf32>
    "tile.store"(%s, %c, %z, %z) {{masked}} : (tensor<16x16xf32>, !M, index, index) -> ()
    gpu.return
  }}
}}
"""
ALONE = "{llvm.noalias}"


@cache
def adding(*promised: str) -> Any:
    return tilec.compile(APART.format(**dict(zip("abc", promised, strict=True))), target="sm_80")


def square() -> Any:
    return np.ones((16, 16), np.float32)


def test_memory_of_its_own() -> None:
    a, b, c = square(), square(), square()
    kernel = adding("", "", ALONE)
    (_, _, result) = kernel.kernels[0].arguments
    assert result.promised == Promises(disjoint=(0, 1))
    assert Abi.parse(str(kernel.abi)).kernels == kernel.kernels
    kernel.launch(a, b, c, grid=1, device="sim")
    kernel.launch(a, a, c, grid=1, device="sim")  # what nobody writes may be read twice
    for arrays in ((c, b, c), (a, c, c)):
        with pytest.raises(LaunchError, match=r"arguments 2 and [01] overlap.*noalia"):
            kernel.launch(*arrays, grid=1, device="sim")


def test_memory_that_interleaves() -> None:
    both = np.ones((16, 32), np.float32)
    kernel = adding("", "", ALONE)
    kernel.launch(both[:, :16], both[:, :16], both[:, 16:], grid=1, device="sim")
    with pytest.raises(LaunchError, match="arguments 2 and 0 overlap"):
        kernel.launch(both[:, :16], square(), both[:, 15:31], grid=1, device="sim")


def test_arguments_that_are_only_read() -> None:
    a, c = square(), square()
    kernel = adding(ALONE, ALONE, "")
    first, second, result = kernel.kernels[0].arguments
    assert (first.promised.disjoint, second.promised.disjoint) == ((2,), (2,))
    assert result.promised == Promises()
    kernel.launch(a, a, c, grid=1, device="sim")
    with pytest.raises(LaunchError, match="arguments 1 and 2 overlap"):
        kernel.launch(a, c, c, grid=1, device="sim")


def test_without_a_promise_there_is_a_barrier() -> None:
    a, c = square(), square()
    assert "bar.sync" not in adding("", "", ALONE).ptx
    assert "bar.sync" not in adding(ALONE, ALONE, "").ptx
    assert "bar.sync" in adding("", ALONE, "").ptx
    adding("", "", "").launch(a, c, c, grid=1, device="sim")
    np.testing.assert_array_equal(c, 2)
