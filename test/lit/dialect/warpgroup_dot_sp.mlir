// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<2x1x128x32xf16, #tile.shared<"64B">>
!B = memref<2x2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
!DL = tensor<128x128xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [0,64]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [64,0] -> row 128, col 128">>
!E = tensor<128x16xi4>
!EL = tensor<128x16xi4, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [64,0] -> row 128, col 16">>

// CHECK-LABEL: func.func @half_of_a(
func.func @half_of_a(%a: !A, %b: !B, %c: !D, %e: !E, %stage: index) -> !D {
  %c0 = arith.constant 0 : index
  // CHECK: tile.warpgroup_dot_sp %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}, %{{.*}} {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", imm_trans_b = 1 : i64, warps = array<i64: 8, 1>} : memref<2x1x128x32xf16, #{{.*}}>, memref<2x2x64x64xf16, #{{.*}}>, tensor<128x128xf32>, tensor<128x16xi4>
  %d = tile.warpgroup_dot_sp %a[%stage, %c0, %c0, %c0], %b[%stage, %c0, %c0, %c0], %c, %e
      {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D, !E
  return %d : !D
}

// CHECK-LABEL: func.func @with_layouts(
func.func @with_layouts(%a: !A, %b: !B, %c: !DL, %e: !EL, %stage: index) -> !DL {
  %c0 = arith.constant 0 : index
  // CHECK: tile.warpgroup_dot_sp
  %d = tile.warpgroup_dot_sp %a[%stage, %c0, %c0, %c0], %b[%stage, %c0, %c0, %c0], %c, %e
      {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !DL, !EL
  return %d : !DL
}

// CHECK-LABEL: func.func @a_in_registers(
func.func @a_in_registers(%p: tensor<128x32xf16>, %b: !B, %c: !D, %e: !E, %stage: index) -> !D {
  %c0 = arith.constant 0 : index
  // CHECK: tile.warpgroup_dot_sp %{{[0-9a-z]+}}, %{{.*}}a::registers
  %d = tile.warpgroup_dot_sp %p, %b[%stage, %c0, %c0, %c0], %c, %e
      {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::registers", imm_trans_b = 1, warps = array<i64: 8, 1>} : tensor<128x32xf16>, !B, !D, !E
  return %d : !D
}
