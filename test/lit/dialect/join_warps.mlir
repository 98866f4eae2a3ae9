// RUN: tile-opt %s | tile-opt | FileCheck %s

!W = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!A = !tile.frag<tensor<64x16xf16>, #tile.layout<"m64n128k16 a f16">>

// CHECK-LABEL: func.func @a_of_four_warps(
func.func @a_of_four_warps(%w: !W) -> !A {
  // CHECK: %[[A:.*]] = tile.join_warps %{{.*}} : !{{.*}} -> !{{.*}}
  %a = tile.join_warps %w : !W -> !A
  // CHECK: return %[[A]]
  return %a : !A
}

// N = 192 is three times 64 columns.
!P = !tile.frag<tensor<16x64xf32>, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 64">>
!D = !tile.frag<tensor<64x192xf32>, #tile.layout<"m64n192k16 d f32">>

// CHECK-LABEL: func.func @columns(
func.func @columns(%p: !P) -> !D {
  // CHECK: tile.join_warps %[[P:.*]], %[[P]], %[[P]] : !{{.*}} -> !{{.*}}
  %d = tile.join_warps %p, %p, %p : !P -> !D
  return %d : !D
}
