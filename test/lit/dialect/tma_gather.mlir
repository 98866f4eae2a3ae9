// RUN: tile-opt %s | tile-opt | FileCheck %s

!M = memref<?x?xf16>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @four(
func.func @four(%m: !M, %s: !S, %b: !Bars, %i: index, %j: index) {
  // CHECK: tile.tma_gather %{{.*}}[%[[I:[^,]*]], %[[J:[^,]*]], %[[J]], %[[I]], %[[J]]] to %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] signal %{{.*}}[%{{.*}}] shape [4, 64] : memref<?x?xf16> to memref<2x64x64xf16, #{{.*}}> signal memref<3xi64, #{{.*}}>
  tile.tma_gather %m[%i, %j, %j, %i, %j] to %s[%i, %i, %i] signal %b[%i] shape [4, 64]
      : !M to !S signal !Bars
  return
}

// CHECK-LABEL: func.func @multicast(
func.func @multicast(%m: !M, %s: !S, %b: !Bars, %i: index) {
  // CHECK: signal %{{.*}}[%{{.*}}] multicast %{{.*}} shape [4, 64]
  tile.tma_gather %m[%i, %i, %i, %i, %i] to %s[%i, %i, %i] signal %b[%i] multicast %i shape [4, 64]
      : !M to !S signal !Bars
  return
}
