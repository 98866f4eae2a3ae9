// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<2x1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
!DL = tensor<128x128xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [0,64]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [64,0] -> row 128, col 128">>
!P = tensor<128x64xf16>

// CHECK-LABEL: func.func @both_in_memory(
func.func @both_in_memory(%a: !A, %b: !B, %c: !D, %stage: index) -> !D {
  %c0 = arith.constant 0 : index
  // CHECK: tile.warpgroup_dot %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1 : i64, warps = array<i64: 8, 1>} : memref<2x1x128x64xf16, #{{.*}}>, memref<2x2x64x64xf16, #{{.*}}>, tensor<128x128xf32>
  %d = tile.warpgroup_dot %a[%stage, %c0, %c0, %c0], %b[%stage, %c0, %c0, %c0], %c
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
  return %d : !D
}

// CHECK-LABEL: func.func @with_layouts(
func.func @with_layouts(%a: !A, %b: !B, %c: !DL, %stage: index) -> !DL {
  %c0 = arith.constant 0 : index
  // CHECK: tile.warpgroup_dot
  %d = tile.warpgroup_dot %a[%stage, %c0, %c0, %c0], %b[%stage, %c0, %c0, %c0], %c
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !DL
  return %d : !DL
}

// CHECK-LABEL: func.func @a_in_registers(
func.func @a_in_registers(%p: !P, %b: !B, %c: !D, %stage: index) -> !D {
  %c0 = arith.constant 0 : index
  // CHECK: tile.warpgroup_dot %{{[0-9a-z]+}}, %{{.*}}a::registers
  %d = tile.warpgroup_dot %p, %b[%stage, %c0, %c0, %c0], %c
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::registers", imm_trans_b = 1, warps = array<i64: 8, 1>} : !P, !B, !D
  return %d : !D
}
