// RUN: tile-opt %s | tile-opt | FileCheck %s

!R = !tile.frag<tensor<8x8xbf16>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>
!C = !tile.frag<tensor<8x8xbf16>, #tile.layout<"register [1,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 8, col 8">>

// CHECK-LABEL: func.func @rows_to_columns(
func.func @rows_to_columns(%r: !R) {
  // CHECK: tile.movmatrix %{{.*}} {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !c_8x8xbf16 -> !b_8x8xbf16
  %c = tile.movmatrix %r {form = "movmatrix.sync.aligned.m8n8.trans.b16"} : !R -> !C
  return
}
