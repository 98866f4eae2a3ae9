// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>

// CHECK-LABEL: func.func @four(
func.func @four(%m: !M, %s: !S, %i: index, %j: index) {
  // CHECK: tile.tma_scatter %{{.*}}[%[[I:[^,]*]], %[[J:[^,]*]], %[[J]], %[[I]], %[[J]]] from %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] shape [4, 64] : memref<?x?xf16> from memref<2x64x64xf16, #{{.*}}>
  tile.tma_scatter %m[%i, %j, %j, %i, %j] from %s[%i, %i, %i] shape [4, 64] : !M from !S
  return
}
