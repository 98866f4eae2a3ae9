// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<4x64x64xf16, #tile.shared<"128B">>
!B = memref<4x128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k16 d f32">>
!R = !tile.frag<tensor<64x16xf16>, #tile.layout<"m64n128k16 a f16">>
!S = !tile.frag<tensor<64x96xf32>, #tile.layout<"m64n96k16 d f32">>

// CHECK-LABEL: func.func @both_in_memory(
func.func @both_in_memory(%a: !A, %b: !B, %c: !D, %first: i1, %stage: index) -> !D {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // CHECK: %[[D:.*]] = tile.wgmma %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} if %{{.*}} {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : memref<4x64x64xf16, #{{.*}}>, memref<4x128x64xf16, #{{.*}}>, !{{.*}}
  %d = tile.wgmma %a[%stage, %c0, %c16], %b[%stage, %c0, %c16], %c if %first
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor"} : !A, !B, !D
  // CHECK: return %[[D]]
  return %d : !D
}

// CHECK-LABEL: func.func @a_in_registers(
func.func @a_in_registers(%a: !R, %b: !B, %c: !D, %stage: index) -> !D {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // CHECK: tile.wgmma {{.*}}a::registers", imm_scale_a = -1 : i64
  %d = tile.wgmma %a, %b[%stage, %c0, %c0], %c if %true {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::registers", imm_scale_a = -1} : !R, !B, !D
  return %d : !D
}

// B with N contiguous: 128 columns are two matrices of 64.
// CHECK-LABEL: func.func @transposed(
func.func @transposed(%a: !A, %b: memref<4x64x64xf16, #tile.shared<"128B">>, %c: !D) -> !D {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %true = arith.constant true
  // CHECK: imm_trans_b = 1 : i64
  %d = tile.wgmma %a[%c0, %c0, %c0], %b[%c2, %c0, %c0], %c if %true {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1} : !A, !A, !D
  return %d : !D
}

// CHECK-LABEL: func.func @columns_that_are_no_power_of_two(
func.func @columns_that_are_no_power_of_two(%a: !A, %b: !B, %c: !S) -> !S {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // CHECK: m64n96k16
  %d = tile.wgmma %a[%c0, %c0, %c0], %b[%c0, %c0, %c0], %c if %true
      {form = "wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16.a::descriptor"} : !A, !B, !S
  return %d : !S
}
