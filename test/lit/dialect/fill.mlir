// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!F = !tile.frag<tensor<16x32xf8E4M3FN>, #tile.layout<"m16n8k32 a e4m3">>
!T = tensor<16x16xi32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,8] -> row 16, col 16">>

// Types that stand more than once are printed by aliases, and read again.
// CHECK-DAG: #c_m16n8_16x16_1x2 = #tile.operand<c, m16n8, 16x16, warps 1x2>
// CHECK-DAG: !m16n8k16_a_f16_16x16xf16 = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>

// CHECK-LABEL: func.func @fragments(
func.func @fragments(%h: f16, %e: f8E4M3FN) -> (!A, !A) {
  // CHECK: %[[A:.*]] = tile.fill %{{.*}} : f16 -> !m16n8k16_a_f16_16x16xf16
  %0 = tile.fill %h : f16 -> !A
  // CHECK: tile.fill %{{.*}} : f8E4M3FN -> !m16n8k32_a_e4m3_16x32xf8E4M3FN
  %1 = tile.fill %e : f8E4M3FN -> !F
  // CHECK: return %[[A]], %[[A]] : !m16n8k16_a_f16_16x16xf16, !m16n8k16_a_f16_16x16xf16
  return %0, %0 : !A, !A
}

// CHECK-LABEL: func.func @tensor(
func.func @tensor(%i: i32) -> !T {
  // CHECK: tile.fill %{{.*}} : i32 -> tensor<16x16xi32, #c_m16n8_16x16_1x2>
  %0 = tile.fill %i : i32 -> !T
  return %0 : !T
}
