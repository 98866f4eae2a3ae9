// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<2x1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>

// CHECK-LABEL: func.func @two_under_way(
func.func @two_under_way(%a: !A, %b: !B, %c: !D, %p: tensor<128x64xf16>, %stage: index) -> (!D, !D) {
  %c0 = arith.constant 0 : index
  // CHECK: %[[ONE:.*]] = tile.warpgroup_start %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}], %{{.*}} {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1 : i64, warps = array<i64: 8, 1>} : memref<2x1x128x64xf16, #{{.*}}>, memref<2x2x64x64xf16, #{{.*}}>, tensor<128x128xf32>
  %one = tile.warpgroup_start %a[%stage, %c0, %c0, %c0], %b[%stage, %c0, %c0, %c0], %c
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
  // CHECK: %[[TWO:.*]] = tile.warpgroup_start %{{[0-9a-z]+}}, %{{.*}}a::registers
  %two = tile.warpgroup_start %p, %b[%stage, %c0, %c0, %c0], %c
      {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::registers", imm_trans_b = 1, warps = array<i64: 8, 1>} : tensor<128x64xf16>, !B, !D
  // CHECK: tile.warpgroup_wait 1 %[[ONE]] : tensor<128x128xf32>
  %d = tile.warpgroup_wait 1 %one : !D
  // CHECK: tile.warpgroup_wait 0 %[[TWO]] : tensor<128x128xf32>
  %e = tile.warpgroup_wait 0 %two : !D
  return %d, %e : !D, !D
}
