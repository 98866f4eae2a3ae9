// RUN: tile-opt %s --tile-to-fragments | FileCheck %s

!T = tensor<32x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>
!M = tensor<32x8xi1, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 8">>

gpu.module @m {
  // CHECK-LABEL: gpu.func @clip(
  // CHECK-SAME: %[[G:[A-Za-z0-9_]+]]: memref<32x8xf32>, %[[P:[A-Za-z0-9_]+]]: i1
  gpu.func @clip(%g: memref<32x8xf32>, %p: i1) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    // CHECK: %[[ZERO:.*]] = tile.fill
    %zero = arith.constant dense<0.0> : !T
    // CHECK: %[[X:.*]] = tile.load
    %x = tile.load %g[%z, %z] : memref<32x8xf32> -> !T
    // CHECK: %[[LESS:.*]] = tile.elementwise arith.cmpf %[[X]], %[[ZERO]] {fastmath = #arith.fastmath<none>, predicate = 4 : i64}
    %m = arith.cmpf olt, %x, %zero : !T
    // CHECK: %[[Y:.*]] = tile.select %[[LESS]], %[[ZERO]], %[[X]]
    %y = arith.select %m, %zero, %x : !M, !T
    // CHECK: %[[R:.*]] = tile.select %[[P]], %[[X]], %[[Y]]
    %r = arith.select %p, %x, %y : !T
    // CHECK: tile.store %[[R]],
    tile.store %r, %g[%z, %z] : !T, memref<32x8xf32>
    gpu.return
  }

  // What chooses among scalars is not touched.
  // CHECK-LABEL: gpu.func @scalars(
  gpu.func @scalars(%g: memref<32x8xf32>, %p: i1, %i: index, %j: index) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    // CHECK: arith.cmpi slt
    %m = arith.cmpi slt, %i, %j : index
    // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : index
    %r = arith.select %m, %i, %j : index
    %x = tile.load %g[%r, %r] : memref<32x8xf32> -> !T
    tile.store %x, %g[%r, %r] : !T, memref<32x8xf32>
    gpu.return
  }
}
