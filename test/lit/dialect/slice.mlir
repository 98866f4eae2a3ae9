// RUN: tile-opt %s | tile-opt | FileCheck %s

// Two fragments of B side by side along K, as one ldmatrix x4 loads them.
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!BB = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>

// CHECK-LABEL: func.func @parts(
func.func @parts(%w: !BB) -> (!B, !B) {
  // CHECK: %[[P0:.*]] = "tile.slice"(%[[W:.*]]) {index = 0 : i64} : (!frag) -> !frag1
  %0 = "tile.slice"(%w) {index = 0} : (!BB) -> !B
  // CHECK: %[[P1:.*]] = "tile.slice"(%[[W]]) {index = 1 : i64} : (!frag) -> !frag1
  %1 = "tile.slice"(%w) {index = 1 : i64} : (!BB) -> !B
  // CHECK: return %[[P0]], %[[P1]]
  return %0, %1 : !B, !B
}

// The whole is a part of itself.
// CHECK-LABEL: func.func @whole(
func.func @whole(%b: !B) {
  // CHECK: "tile.slice"(%{{.*}}) {index = 0 : i64} : (!frag1) -> !frag1
  %0 = "tile.slice"(%b) {index = 0} : (!B) -> !B
  return
}
