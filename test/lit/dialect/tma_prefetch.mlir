// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: tile.tma_prefetch %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] shape [64, 64] : memref<?x?x?xf16>
  tile.tma_prefetch %m[%i, %i, %i] shape [64, 64] : !M
  return
}
