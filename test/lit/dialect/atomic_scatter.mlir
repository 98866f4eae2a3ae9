// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @sums(
func.func @sums(%t: tensor<64xi32>, %m: memref<?xi32>, %o: tensor<64xi32>, %p: tensor<64xi1>, %z: index) {
  // CHECK: tile.atomic_scatter arith.addi %{{.*}}, %{{.*}}[%{{.*}}] along [0] by %{{.*}} where %{{.*}} masked : tensor<64xi32>, memref<?xi32> by tensor<64xi32> where tensor<64xi1>
  tile.atomic_scatter arith.addi %t, %m[%z] along [0] by %o where %p masked
      : tensor<64xi32>, memref<?xi32> by tensor<64xi32> where tensor<64xi1>
  return
}
