// RUN: tile-opt %s | tile-opt | FileCheck %s

!S = memref<3x128x64xf16, #tile.shared<"128B">>

// CHECK-LABEL: func.func @copies(
func.func @copies(%g: memref<?x?xf16>, %s: !S, %i: index) {
  // CHECK: tile.async_copy %{{.*}}[%[[I:.*]], %[[I]]] to %{{.*}}[%[[I]], %[[I]], %[[I]]] shape [128, 64] {vector = 8 : i64} : memref<?x?xf16> to memref<3x128x64xf16, #tile.shared<"128B">>
  tile.async_copy %g[%i, %i] to %s[%i, %i, %i] shape [128, 64] {vector = 8} : memref<?x?xf16> to !S
  // CHECK: shape [16, 32] masked
  tile.async_copy %g[%i, %i] to %s[%i, %i, %i] shape [16, 32] masked : memref<?x?xf16> to !S
  // CHECK: shape [16, 32] {warps = array<i64: 6, 2>}
  tile.async_copy %g[%i, %i] to %s[%i, %i, %i] shape [16, 32] {warps = array<i64: 6, 2>} : memref<?x?xf16> to !S
  return
}
