"""Accesses that differ only in which index is the number 0 and which a value go where they say."""

from __future__ import annotations

import numpy as np
import pytest
import tilec
from tilec.sim import launch

LAYOUT = '#tile.layout<"register; lane [0,1] [0,2] [0,4] [1,0] [2,0] -> row 4, col 8">'

GLOBAL = """
!T = tensor<4x8xf32, {layout}>
!M = memref<2x2x4x8xf32>
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%x: !M, %y: memref<2x4x8xf32>, %i: index) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %a = "tile.load"(%x, %i, %z, %z, %z) {{{how}}} : (!M, index, index, index, index) -> !T
    %b = "tile.load"(%x, %z, %i, %z, %z) {{{how}}} : (!M, index, index, index, index) -> !T
    "tile.store"(%a, %y, %z, %z, %z) : (!T, memref<2x4x8xf32>, index, index, index) -> ()
    "tile.store"(%b, %y, %one, %z, %z) : (!T, memref<2x4x8xf32>, index, index, index) -> ()
    gpu.return
  }}
}}
"""
SHARED = """
!T = tensor<4x8xf32, {layout}>
!S = memref<16x16xf32, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {{
  gpu.func @k(%x: memref<16x16xf32>, %y: memref<2x4x8xf32>, %i: index) kernel
      attributes {{known_block_size = array<i32: 32, 1, 1>}} {{
    %z = arith.constant 0 : index
    %one = arith.constant 1 : index
    %eight = arith.constant 8 : index
    %at = arith.muli %i, %eight : index
    %s = "tile.alloc_shared"() : () -> !S
    "tile.async_copy"(%x, %s, %z, %z, %z, %z) {{shape = array<i64: 16, 16>, vector = 4}}
      : (memref<16x16xf32>, !S, index, index, index, index) -> ()
    "tile.async_commit"() : () -> ()
    "tile.async_wait"() {{pending = 0}} : () -> ()
    gpu.barrier
    %a = "tile.load"(%s, %at, %z) : (!S, index, index) -> !T
    %b = "tile.load"(%s, %z, %at) : (!S, index, index) -> !T
    "tile.store"(%a, %y, %z, %z, %z) : (!T, memref<2x4x8xf32>, index, index, index) -> ()
    "tile.store"(%b, %y, %one, %z, %z) : (!T, memref<2x4x8xf32>, index, index, index) -> ()
    gpu.return
  }}
}}
"""


@pytest.mark.parametrize("how", ["", "masked"])
def test_global(how: str) -> None:
    x = np.arange(128, dtype=np.float32).reshape(2, 2, 4, 8)
    y = np.zeros((2, 4, 8), np.float32)
    ptx = tilec.compile(GLOBAL.format(layout=LAYOUT, how=how)).ptx
    assert not launch(ptx, "k", 1, 32, [x, y, 1]).findings
    np.testing.assert_array_equal(y, [x[1, 0], x[0, 1]])


def test_shared() -> None:
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    y = np.zeros((2, 4, 8), np.float32)
    ptx = tilec.compile(SHARED.format(layout=LAYOUT)).ptx
    assert not launch(ptx, "k", 1, 32, [x, y, 1]).findings
    np.testing.assert_array_equal(y, [x[8:12, :8], x[:4, 8:]])
