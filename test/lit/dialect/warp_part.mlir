// RUN: tile-opt %s | tile-opt | FileCheck %s

!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!S = !tile.frag<tensor<64x96xf32>, #tile.layout<"m64n96k16 d f32">>
!P = !tile.frag<tensor<16x32xf32>, #tile.layout<"register [0,1] [8,0] [0,8] [0,16]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 32">>

// CHECK-LABEL: func.func @columns(
func.func @columns(%d: !D, %s: !S) -> (!P, !P) {
  // CHECK: %[[P:.*]] = tile.warp_part %{{.*}} column 64 : !{{.*}} -> !{{.*}}
  %p = tile.warp_part %d column 64 : !D -> !P
  // CHECK: %[[Q:.*]] = tile.warp_part %{{.*}} column 32 : !{{.*}} -> !{{.*}}
  %q = tile.warp_part %s column 32 : !S -> !P
  // CHECK: return %[[P]], %[[Q]]
  return %p, %q : !P, !P
}
