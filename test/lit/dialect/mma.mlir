// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

// The printed IR names a layout, and the types with it, once.
// CHECK: !m16n8k16_a_f16_16x16xf16 = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
// CHECK: !m16n8k16_b_f16_16x8xf16 = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
// CHECK: !m16n8k16_c_f32_16x8xf32 = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>

// CHECK-LABEL: func.func @halves(
// CHECK-SAME: %[[A:[A-Za-z0-9_]+]]: !m16n8k16_a_f16_16x16xf16, %[[B:[A-Za-z0-9_]+]]: !m16n8k16_b_f16_16x8xf16, %[[C:[A-Za-z0-9_]+]]: !m16n8k16_c_f32_16x8xf32) -> !m16n8k16_c_f32_16x8xf32
func.func @halves(%a: !A, %b: !B, %c: !C) -> !C {
  // CHECK: %[[D:.*]] = tile.mma %[[A]], %[[B]], %[[C]] {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !m16n8k16_a_f16_16x16xf16, !m16n8k16_b_f16_16x8xf16, !m16n8k16_c_f32_16x8xf32
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  // CHECK: tile.mma %[[A]], %[[B]], %[[D]]
  %e = tile.mma %a, %b, %d {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return %e : !C
}

!QA = !tile.frag<tensor<4x8x4xf16>, #tile.layout<"m8n8k4 a f16 col">>
!QB = !tile.frag<tensor<4x4x8xf16>, #tile.layout<"m8n8k4 b f16 row">>
!QC = !tile.frag<tensor<4x8x8xf32>, #tile.layout<"m8n8k4 c f32">>

// CHECK-LABEL: func.func @four_products(
func.func @four_products(%a: !QA, %b: !QB, %c: !QC) {
  // CHECK: tile.mma %{{.*}} {form = "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"}
      : !QA, !QB, !QC
  return
}

// Signs are the form's, not the type's; a layout may be written out.
!IA = !tile.frag<tensor<8x32xi4>, #tile.layout<"m8n8k32 a u4">>
!IB = !tile.frag<tensor<32x8xi4>, #tile.layout<"m8n8k32 b s4">>
!IC = !tile.frag<tensor<8x8xi32>, #tile.layout<"register [0,1]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 8, col 8">>

// CHECK-LABEL: func.func @nibbles(
func.func @nibbles(%a: !IA, %b: !IB, %c: !IC) {
  // CHECK: {form = "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32"}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.u4.s4.s32"}
      : !IA, !IB, !IC
  return
}

!BA = !tile.frag<tensor<16x128xi1>, #tile.layout<"m16n8k128 a b1">>
!BB = !tile.frag<tensor<128x8xi1>, #tile.layout<"m16n8k128 b b1">>
!BC = !tile.frag<tensor<16x8xi32>, #tile.layout<"m16n8k128 c s32">>

// CHECK-LABEL: func.func @bits(
func.func @bits(%a: !BA, %b: !BB, %c: !BC) {
  // CHECK: {form = "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc"}
  %d = tile.mma %a, %b, %c {form = "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.xor.popc"}
      : !BA, !BB, !BC
  return
}
