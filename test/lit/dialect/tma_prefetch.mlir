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

// CHECK-LABEL: func.func @pixels(
func.func @pixels(%m: !M, %i: index) {
  // CHECK: tile.tma_prefetch %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] im2col [-1] to [2] offsets[%{{.*}}] shape [64, 64] {element_strides = array<i64: 1, 2, 1>} : memref<?x?x?xf16>
  tile.tma_prefetch %m[%i, %i, %i] im2col [-1] to [2] offsets [%i] shape [64, 64] {element_strides = array<i64: 1, 2, 1>} : !M
  return
}
