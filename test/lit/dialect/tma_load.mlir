// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: tile.tma_load %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] signal %{{.*}}[%{{.*}}] shape [64, 64] : memref<?x?x?xf16> to memref<2x64x64xf16, #{{.*}}> signal memref<3xi64, #{{.*}}>
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      : !M to !S signal !Bars
  return
}

// CHECK-LABEL: func.func @multicast(
func.func @multicast(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: signal %{{.*}}[%{{.*}}] multicast %{{.*}} shape [64, 64]
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] multicast %i shape [64, 64]
      : !M to !S signal !Bars
  return
}

// CHECK-LABEL: func.func @every_second_row(
func.func @every_second_row(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: shape [64, 64] {element_strides = array<i64: 1, 2, 1>}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      {element_strides = array<i64: 1, 2, 1>} : !M to !S signal !Bars
  return
}

// CHECK-LABEL: func.func @im2col(
func.func @im2col(%m: memref<?x?x?x?xf16>, %s: !S, %b: !Bars, %i: index) {
  // CHECK: signal %{{.*}}[%{{.*}}] im2col [-1, -1] to [1, -2] offsets[%{{.*}}, %{{.*}}] shape [64, 64] :
  tile.tma_load %m[%i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i]
      im2col [-1, -1] to [1, -2] offsets [%i, %i] shape [64, 64]
      : memref<?x?x?x?xf16> to !S signal !Bars
  // CHECK: im2col [0, 0] to [0, 0] offsets[%{{.*}}, %{{.*}}] multicast %{{.*}} shape [32, 64] {element_strides = array<i64: 1, 2, 2, 1>} :
  tile.tma_load %m[%i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i]
      im2col [0, 0] to [0, 0] offsets [%i, %i] multicast %i shape [32, 64]
      {element_strides = array<i64: 1, 2, 2, 1>}
      : memref<?x?x?x?xf16> to !S signal !Bars
  return
}

// CHECK-LABEL: func.func @pair(
func.func @pair(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: signal %{{.*}}[%{{.*}}] shape [64, 64] {cta_group = 2 : i64}
  tile.tma_load %m[%i, %i, %i] to %s[%i, %i, %i] signal %b[%i] shape [64, 64]
      {cta_group = 2 : i64} : !M to !S signal !Bars
  return
}
