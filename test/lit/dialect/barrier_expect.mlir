// RUN: tile-opt %s | tile-opt | FileCheck %s

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%b: !Bars, %i: index, %p: i1) {
  // CHECK: tile.barrier_expect %{{.*}}[%{{.*}}] bytes 4096 : memref<3xi64, #tile.shared<"none">>
  tile.barrier_expect %b[%i] bytes 4096 : !Bars
  return
}
