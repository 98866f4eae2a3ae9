// RUN: tile-opt %s | tile-opt | FileCheck %s

// CHECK-LABEL: func.func @lock(
func.func @lock(%a: tensor<1xi32>, %b: tensor<1xi32>, %m: memref<?xi32>, %z: index) {
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] {order = "acquire"} : tensor<1xi32>, memref<?xi32>
  %0 = tile.atomic_cas %a, %b, %m[%z] {order = "acquire"} : tensor<1xi32>, memref<?xi32>
  return
}
