// RUN: tile-opt %s --tile-to-fragments | FileCheck %s

// Warps 0 and 2 hold the same, and so do 1 and 3.
!T = tensor<16x8xf32, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [8,0] [0,0] -> row 16, col 8">>

gpu.module @m {
  // CHECK-LABEL: gpu.func @once(
  gpu.func @once(%g: memref<16x8xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    // CHECK: %[[WARP:.*]] = arith.shrui
    // CHECK: %[[X:.*]] = tile.load
    %z = arith.constant 0 : index
    %x = tile.load %g[%z, %z] : memref<16x8xf32> -> !T
    // CHECK: %[[TWO:.*]] = arith.constant 2 : index
    // CHECK: %[[BIT:.*]] = arith.andi %[[WARP]], %[[TWO]] : index
    // CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[BIT]],
    // CHECK: scf.if %[[FIRST]] {
    // CHECK-NEXT: tile.store %[[X]],
    // CHECK-NEXT: }
    tile.store %x, %g[%z, %z] : !T, memref<16x8xf32>
    // CHECK: scf.if
    // CHECK-NEXT: tile.atomic arith.addf %[[X]], %{{.*}}[%{{.*}}] masked
    tile.atomic arith.addf %x, %g[%z, %z] masked : !T, memref<16x8xf32>
    gpu.return
  }
}
