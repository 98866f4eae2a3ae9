// RUN: tile-opt %s --tile-check-divergence | FileCheck %s

!T = tensor<64xf32, #tile.layout<"register; lane [1] [2] [4] [8] [16]; warp [32] -> row 64">>
!W = tensor<2x64xf32, #tile.layout<"register [0,32]; lane [0,1] [0,2] [0,4] [0,8] [0,16]; warp [1,0] -> row 2, col 64">>
!R = tensor<2xf32, #tile.layout<"register; lane [0] [0] [0] [0] [0]; warp [1] -> row 2">>
!F = !tile.frag<tensor<32xf32>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>

// CHECK: gpu.module @m
gpu.module @m {
  // What a CTA's tile is reduced to is the same in all of its threads.
  gpu.func @of_a_cta(%x: f32, %m: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.load %m[%z] : memref<64xf32> -> !T
    %s = tile.reduce arith.addf %t axis 0 : !T -> f32
    %p = arith.cmpf olt, %s, %x : f32
    scf.if %p {
      %u = tile.reduce arith.maximumf %t axis 0 : !T -> f32
    }
    scf.while (%v = %s) : (f32) -> f32 {
      %q = arith.cmpf olt, %v, %x : f32
      scf.condition(%q) %v : f32
    } do {
    ^bb0(%v: f32):
      %u = tile.fill %v : f32 -> !T
      %w = tile.reduce arith.addf %u axis 0 : !T -> f32
      scf.yield %w : f32
    }
    gpu.return
  }

  // What a warp's fragment is reduced to, the same in all of its lanes; and a tile of which each warp
  // has whole rows is reduced by warps alone.
  gpu.func @of_a_warp(%x: f32, %m: memref<64xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c5 = arith.constant 5 : index
    %c32 = arith.constant 32 : index
    %thread = gpu.thread_id x
    %warp = arith.shrui %thread, %c5 : index
    %at = arith.muli %warp, %c32 : index
    %f = tile.load %m[%at] : memref<64xf32> -> !F
    %s = tile.reduce arith.addf %f axis 0 : !F -> f32
    %p = arith.cmpf olt, %s, %x : f32
    %w = tile.fill %x : f32 -> !W
    scf.if %p {
      %u = tile.reduce arith.maximumf %f axis 0 : !F -> f32
      %r = tile.reduce arith.maximumf %w axis 1 : !W -> !R
    }
    gpu.return
  }

  // Views and indices move nothing, wherever they stand.
  gpu.func @views(%x: f32) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %lane = gpu.lane_id
    %c5 = arith.constant 5 : index
    %p = arith.cmpi ult, %lane, %c5 : index
    %f = tile.fill %x : f32 -> !F
    scf.if %p {
      %e = tile.expand %f axis 0 : !F -> !tile.frag<tensor<1x32xf32>, #tile.layout<"register; lane [0,1] [0,2] [0,4] [0,8] [0,16] -> row 1, col 32">>
      %i = tile.iota axis 0 : !tile.frag<tensor<32xi32>, #tile.layout<"register; lane [1] [2] [4] [8] [16] -> row 32">>
    }
    gpu.return
  }
}
