// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?xf16>

// CHECK-LABEL: func.func @four(
func.func @four(%m: !M, %i: index, %j: index) {
  // CHECK: tile.tma_gather_prefetch %{{.*}}[%[[I:[^,]*]], %[[J:[^,]*]], %[[J]], %[[I]], %[[J]]] shape [4, 64] : memref<?x?xf16>
  tile.tma_gather_prefetch %m[%i, %j, %j, %i, %j] shape [4, 64] : !M
  return
}
