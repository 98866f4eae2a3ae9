// RUN: tile-opt %s --tile-to-fragments --verify-diagnostics

!T = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,8] -> row 32, col 16">>
!R = tensor<32xf32, #tile.layout<"register [8] [16]; lane [0] [0] [1] [2] [4]; warp [0] -> row 32">>
gpu.module @m [#nvvm.target<chip = "sm_80">] {
  gpu.func @over_warps(%x: f32) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %t = tile.fill %x : f32 -> !T
    // expected-error @below {{'tile.reduce' op reduces over 2 warps: run tile-stage-reductions first}}
    %r = tile.reduce arith.addf %t axis 1 : !T -> !R
    gpu.return
  }
}
