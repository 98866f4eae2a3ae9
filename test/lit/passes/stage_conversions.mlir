// RUN: tile-opt %s --tile-stage-conversions | FileCheck %s

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!W = tensor<32x8xf32, #tile.layout<"register [0,1] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 8">>
!P = tensor<32x8xf32, #tile.layout<"register [8,0] [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!L = tensor<32x8xf32, #tile.layout<"register [0,1] [0,2]; lane [0,4] [1,0] [2,0] [4,0] [8,0]; warp [16,0] -> row 32, col 8">>
!TT = tensor<32x8xtf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!TW = tensor<32x8xtf32, #tile.layout<"register [0,1] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 8">>
!F = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!G = !tile.frag<tensor<16x8xf32>, #tile.layout<"register [8,0] [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">>

// CHECK: #[[T:[A-Za-z0-9_]+]] = #tile.operand<c, m16n8, 32x8, warps 2x1>
// CHECK: #[[W:[A-Za-z0-9_]+]] = #tile.layout<"register [0,1] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] -> row 32, col 8">

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Between warps: a buffer at the top of the kernel; a barrier before it is written, for those who
  // still read what the round before left, and one before it is read.
  // CHECK-LABEL: gpu.func @between_warps(
  gpu.func @between_warps(%g: memref<32x8xf32>, %n: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-NEXT: %[[S:.*]] = tile.alloc_shared : memref<32x8xf32, #tile.shared<"none">>
    // CHECK: scf.for
    // CHECK: %[[X:.*]] = tile.load
    // CHECK: %[[Z:.*]] = arith.constant 0 : index
    // CHECK: gpu.barrier
    // CHECK-NEXT: tile.store %[[X]], %[[S]][%[[Z]], %[[Z]]] {form = "none"} : tensor<32x8xf32, #[[T]]>, memref<32x8xf32, #tile.shared<"none">>
    // CHECK-NEXT: gpu.barrier
    // CHECK-NEXT: %[[Y:.*]] = tile.load %[[S]][%[[Z]], %[[Z]]] {form = "none"} : memref<32x8xf32, #tile.shared<"none">> -> tensor<32x8xf32, #[[W]]>
    // CHECK-NEXT: tile.store %[[Y]],
    // CHECK-NOT: tile.convert_layout
    %z = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %z to %n step %c1 {
      %t = tile.load %g[%z, %z] : memref<32x8xf32> -> !T
      %w = tile.convert_layout %t : !T -> !W
      tile.store %w, %g[%z, %z] : !W, memref<32x8xf32>
    }
    gpu.return
  }

  // Within each warp, where registers or a few shuffles do: it stays.
  // CHECK-LABEL: gpu.func @within_warps(
  gpu.func @within_warps(%g: memref<32x8xf32>, %f: !F) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK-NOT: tile.alloc_shared
    // CHECK: %[[X:.*]] = tile.load
    // CHECK-NOT: gpu.barrier
    // CHECK: tile.convert_layout %[[X]]
    // CHECK: tile.convert_layout %[[X]]
    // CHECK: tile.convert_layout
    // CHECK: gpu.return
    %z = arith.constant 0 : index
    %t = tile.load %g[%z, %z] : memref<32x8xf32> -> !T
    %p = tile.convert_layout %t : !T -> !P
    %l = tile.convert_layout %t : !T -> !L
    %h = tile.convert_layout %f : !F -> !G
    gpu.return
  }

  // What memory holds of a tf32 is an f32.
  // CHECK-LABEL: gpu.func @tf32(
  gpu.func @tf32(%g: memref<32x8xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: tile.alloc_shared : memref<32x8xf32,
    // CHECK: gpu.barrier
    %z = arith.constant 0 : index
    %t = tile.load %g[%z, %z] : memref<32x8xf32> -> !TT
    %w = tile.convert_layout %t : !TT -> !TW
    tile.store %w, %g[%z, %z] : !TW, memref<32x8xf32>
    gpu.return
  }
}

// Where the cheapest way has matrix instructions that the fragments are not made for, plain accesses go
// the same way.
gpu.module @column [#nvvm.target<chip = "sm_90">] {
  // Done once, so that nobody can still be reading.
  // CHECK-LABEL: gpu.func @column(
  // CHECK-NOT: gpu.barrier
  // CHECK: tile.store {{.*}} {form = "none"}
  // CHECK-NEXT: gpu.barrier
  // CHECK-NEXT: tile.load {{.*}} {form = "none"}
  // CHECK-NOT: tile.convert_layout
  gpu.func @column(%g: memref<16x1xf32>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %z = arith.constant 0 : index
    %a = tile.load %g[%z, %z] : memref<16x1xf32> -> tensor<16x1xf32, #tile.layout<"register; lane [0,0] [0,0] [0,0] [0,0] [1,0]; warp [2,0] [4,0] [8,0] -> row 16, col 1">>
    %b = tile.convert_layout %a : tensor<16x1xf32, #tile.layout<"register; lane [0,0] [0,0] [0,0] [0,0] [1,0]; warp [2,0] [4,0] [8,0] -> row 16, col 1">> -> tensor<16x1xf32, #tile.layout<"register; lane [1,0] [2,0] [4,0] [8,0] [0,0]; warp [0,0] [0,0] [0,0] -> row 16, col 1">>
    tile.store %b, %g[%z, %z] : tensor<16x1xf32, #tile.layout<"register; lane [1,0] [2,0] [4,0] [8,0] [0,0]; warp [0,0] [0,0] [0,0] -> row 16, col 1">>, memref<16x1xf32>
    gpu.return
  }
}
