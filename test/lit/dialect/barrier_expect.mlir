// RUN: tile-opt %s | tile-opt | FileCheck %s

!Bars = memref<3xi64, #tile.shared<"none">>

// CHECK-LABEL: func.func @one(
func.func @one(%b: !Bars, %i: index, %p: i1) {
  // CHECK: "tile.barrier_expect"(%{{.*}}, %{{.*}}) {bytes = 4096 : i64} : (memref<3xi64, #shared>, index) -> ()
  "tile.barrier_expect"(%b, %i) {bytes = 4096} : (!Bars, index) -> ()
  return
}
