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
