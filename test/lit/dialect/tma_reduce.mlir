// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: tile.tma_reduce add %{{.*}} shape [32, 64] : memref<2x64x64xf16, #{{.*}}> to memref<?x?x?xf16>
  tile.tma_reduce add %s[%i, %i, %i] to %m[%i, %i, %i] shape [32, 64] : !S to !M
  return
}
