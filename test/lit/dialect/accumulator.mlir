// RUN: tile-opt %s | tile-opt | FileCheck %s

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>

// CHECK-LABEL: func.func @zeros(
func.func @zeros() -> !D {
  // CHECK: %[[Z:.*]] = tile.accumulator : !{{.*}}
  %z = tile.accumulator : !D
  // CHECK: return %[[Z]]
  return %z : !D
}
