// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: tile.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] signals %{{.*}}[%{{.*}}] shape [64, 64] : memref<?x?x?xf16> to memref<2x64x64xf16, #{{.*}}>, memref<3xi64, #{{.*}}>
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signals %b[%i] shape [64, 64] : !M to !S, !Bars
  return
}
