// RUN: tile-opt %s | tile-opt | FileCheck %s

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!BB = !tile.frag<tensor<32x8xf16>, #tile.layout<"register [1,0] [8,0] [16,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 32, col 8">>

// CHECK-LABEL: func.func @parts(
// CHECK-SAME: %[[P0:[a-z0-9]+]]: !frag, %[[P1:[a-z0-9]+]]: !frag)
func.func @parts(%0: !B, %1: !B) -> !BB {
  // CHECK: %[[W:.*]] = "tile.concat"(%[[P0]], %[[P1]]) : (!frag, !frag) -> !frag1
  %w = "tile.concat"(%0, %1) : (!B, !B) -> !BB
  // CHECK: return %[[W]]
  return %w : !BB
}

// CHECK-LABEL: func.func @one(
func.func @one(%b: !B) {
  // CHECK: "tile.concat"(%{{.*}}) : (!frag) -> !frag
  %w = "tile.concat"(%b) : (!B) -> !B
  return
}
