// RUN: tile-opt %s | tile-opt | FileCheck %s

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%b: !Bars, %i: index, %p: i1) {
  // CHECK: tile.barrier_wait %{{.*}}[%{{.*}}] parity %{{.*}} : memref<3xi64, #tile.shared<"none">>
  tile.barrier_wait %b[%i] parity %p : !Bars
  // CHECK: tile.barrier_wait %{{.*}}[%{{.*}}] parity %{{.*}} cluster : memref<3xi64, #tile.shared<"none">>
  tile.barrier_wait %b[%i] parity %p cluster : !Bars
  return
}
