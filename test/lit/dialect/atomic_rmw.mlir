// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @tickets(
func.func @tickets(%t: tensor<64xi32>, %f: tensor<64xf32>, %m: memref<?xi32>, %g: memref<?xf32>, %o: tensor<64xi64>, %p: tensor<64xi1>, %z: index) {
  // CHECK: tile.atomic_rmw arith.addi %{{.*}}, %{{.*}}[%{{.*}}] masked {order = "acq_rel", scope = "sys"} : tensor<64xi32>, memref<?xi32>
  %0 = tile.atomic_rmw arith.addi %t, %m[%z] masked {order = "acq_rel", scope = "sys"} : tensor<64xi32>, memref<?xi32>
  // CHECK: tile.atomic_rmw exchange %{{.*}}, %{{.*}}[%{{.*}}] along [0] by %{{.*}} where %{{.*}} : tensor<64xf32>, memref<?xf32> by tensor<64xi64> where tensor<64xi1>
  %1 = tile.atomic_rmw exchange %f, %g[%z] along [0] by %o where %p
      : tensor<64xf32>, memref<?xf32> by tensor<64xi64> where tensor<64xi1>
  return
}
