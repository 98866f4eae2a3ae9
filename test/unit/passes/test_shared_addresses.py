"""Buffers of different element types share no addresses, though they are accessed alike."""

from __future__ import annotations

import numpy as np
import tilec
from tilec.sim import launch

LANES = "lane [0,8] [1,0] [2,0] [4,0] [8,0]"
PROGRAM = """
#L = #tile.layout<"register [0,1] [0,2] [0,4]; LANES -> row 16, col 16">
!F16 = !tile.frag<tensor<16x16xf16>, #L>
!F32 = !tile.frag<tensor<16x16xf32>, #L>
!S16 = memref<16x16xf16, #tile.shared<"none">>
!S32 = memref<16x16xf32, #tile.shared<"none">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @k(%x: memref<16x16xf16>, %y: memref<16x16xf32>, %u: memref<16x16xf16>,
              %v: memref<16x16xf32>)
      kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %s16 = "tile.alloc_shared"() : () -> !S16
    %s32 = "tile.alloc_shared"() : () -> !S32
    %a = "tile.load"(%x, %c0, %c0) : (memref<16x16xf16>, index, index) -> !F16
    %b = "tile.load"(%y, %c0, %c0) : (memref<16x16xf32>, index, index) -> !F32
    "tile.store"(%a, %s16, %c0, %c0) : (!F16, !S16, index, index) -> ()
    "tile.store"(%b, %s32, %c0, %c0) : (!F32, !S32, index, index) -> ()
    gpu.barrier
    %c = "tile.load"(%s16, %c0, %c0) : (!S16, index, index) -> !F16
    %d = "tile.load"(%s32, %c0, %c0) : (!S32, index, index) -> !F32
    "tile.store"(%c, %u, %c0, %c0) : (!F16, memref<16x16xf16>, index, index) -> ()
    "tile.store"(%d, %v, %c0, %c0) : (!F32, memref<16x16xf32>, index, index) -> ()
    gpu.return
  }
}
""".replace("LANES", LANES)


def test_buffers_of_two_element_types() -> None:
    x, y = (np.arange(256, dtype=t).reshape(16, 16) for t in (np.float16, np.float32))
    u, v = np.zeros_like(x), np.zeros_like(y)
    ptx = tilec.compile(PROGRAM).ptx
    launch(ptx, "k", 1, 32, [x, y, u, v], arch="sm_80").require_ok()
    assert (u == x).all()
    assert (v == y).all()
