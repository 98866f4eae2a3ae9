// RUN: tile-opt %s | tile-opt | FileCheck %s

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%b: !Bars, %i: index, %p: i1) {
  // CHECK: "tile.barrier_wait"(%{{.*}}, %{{.*}}, %{{.*}}) : (memref<3xi64, #shared>, index, i1) -> ()
  "tile.barrier_wait"(%b, %i, %p) : (!Bars, index, i1) -> ()
  return
}
