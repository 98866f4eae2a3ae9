// RUN: tile-opt %s --tile-assign-layouts | FileCheck %s

gpu.module @m [#nvvm.target<chip = "sm_80">] {
  // Of warps that hold copies one updates memory; all get what it got.
  // CHECK-LABEL: gpu.func @copies(
  gpu.func @copies(%m: memref<?xf32>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %z = arith.constant 0 : index
    %t = tile.load %m[%z] : memref<?xf32> -> tensor<32xf32>
    // CHECK: %[[OLD:.*]] = tile.atomic_rmw arith.addf %{{.*}}, %{{.*}}[%{{.*}}] {first_warps} : tensor<32xf32, [[L:#.*]]>, memref<?xf32>
    // CHECK: %[[BITS:.*]] = arith.bitcast %[[OLD]] : tensor<32xf32, [[L]]> to tensor<32xi32, [[L]]>
    // CHECK: %[[ONE:.*]] = tile.expand %[[BITS]] axis 0
    // CHECK: %[[EACH:.*]] = tile.broadcast %[[ONE]] : {{.*}} -> tensor<2x32xi32, {{.*}}>
    // CHECK: %[[ALL:.*]] = tile.reduce arith.ori %[[EACH]] axis 0
    // CHECK: %[[BACK:.*]] = arith.bitcast %[[ALL]]
    %0 = tile.atomic_rmw arith.addf %t, %m[%z] : tensor<32xf32>, memref<?xf32>
    // CHECK: tile.store %[[BACK]]
    tile.store %0, %m[%z] : tensor<32xf32>, memref<?xf32>
    gpu.return
  }
}
