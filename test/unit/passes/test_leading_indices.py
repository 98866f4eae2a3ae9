"""Masked accesses whose leading indices are out of bounds read zeros and write nothing."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
import tilec

PROGRAM = """
!M = memref<?x?x?xf32, strided<[?, ?, 1]>>
!T = tensor<8x32xf32>
gpu.module @m {
  gpu.func @k(%a: !M, %b: !M, %i: index, %j: index)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %z = arith.constant 0 : index
    %x = "tile.load"(%a, %i, %z, %z) {masked} : (!M, index, index, index) -> !T
    %y = "tile.load"(%a, %j, %z, %z) {masked} : (!M, index, index, index) -> !T
    %s = arith.subf %x, %y : !T
    "tile.store"(%s, %b, %i, %z, %z) {masked} : (!T, !M, index, index, index) -> ()
    gpu.return
  }
}
"""


@cache
def compiled() -> Any:
    return tilec.compile(PROGRAM, target="sm_80")


@pytest.mark.parametrize(("i", "j"), [(0, 1), (1, -1), (-1, 2), (3, 0), (2, 7), (-1, -1)])
def test_out_of_bounds(i: int, j: int) -> None:
    a = np.random.default_rng(0).random((3, 5, 20), np.float32)
    b = np.full_like(a, 9)
    expected = b.copy()
    if 0 <= i < 3:
        expected[i] = a[i] - (a[j] if 0 <= j < 3 else 0)
    compiled().launch(a, b, np.int64(i), np.int64(j), grid=1, device="sim")
    np.testing.assert_array_equal(b, expected)
