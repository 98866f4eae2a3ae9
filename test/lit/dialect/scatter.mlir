// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @rows(
func.func @rows(%t: tensor<8x32xf32>, %m: memref<?x?xf32>, %o: tensor<8x32xi64>, %p: tensor<8x32xi1>, %z: index) {
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] along [0] by %{{.*}} masked {vector = 4 : i64} : tensor<8x32xf32>, memref<?x?xf32> by tensor<8x32xi64>
  tile.scatter %t, %m[%z, %z] along [0] by %o masked {vector = 4 : i64}
      : tensor<8x32xf32>, memref<?x?xf32> by tensor<8x32xi64>
  // CHECK: tile.scatter %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] where %{{.*}} : tensor<8x32xf32>, memref<?x?xf32> where tensor<8x32xi1>
  tile.scatter %t, %m[%z, %z] where %p : tensor<8x32xf32>, memref<?x?xf32> where tensor<8x32xi1>
  return
}
