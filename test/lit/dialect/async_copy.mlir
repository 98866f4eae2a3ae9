// RUN: tile-opt %s | tile-opt | FileCheck %s

!S = memref<3x128x64xf16, #tile.shared<"128B">>

// CHECK-LABEL: func.func @copies(
func.func @copies(%g: memref<?x?xf16>, %s: !S, %i: index) {
  // CHECK: "tile.async_copy"(%{{.*}}, %{{.*}}, %[[I:.*]], %[[I]], %[[I]], %[[I]], %[[I]]) {shape = array<i64: 128, 64>, vector = 8 : i64} : (memref<?x?xf16>, memref<3x128x64xf16, #shared>, index, index, index, index, index) -> ()
  "tile.async_copy"(%g, %s, %i, %i, %i, %i, %i) {shape = array<i64: 128, 64>, vector = 8} : (memref<?x?xf16>, !S, index, index, index, index, index) -> ()
  // CHECK: {masked, shape = array<i64: 16, 32>}
  "tile.async_copy"(%g, %s, %i, %i, %i, %i, %i) {shape = array<i64: 16, 32>, masked} : (memref<?x?xf16>, !S, index, index, index, index, index) -> ()
  return
}
