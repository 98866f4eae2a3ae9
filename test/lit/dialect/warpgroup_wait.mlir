// RUN: tile-opt %s | tile-opt | FileCheck %s

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>

// CHECK-LABEL: func.func @one(
func.func @one(%a: !A, %b: !B, %c: !D, %i: index) -> !D {
  %d = tile.warpgroup_start %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
  // CHECK: tile.warpgroup_wait 0 %{{.*}} : tensor<128x128xf32>
  %e = tile.warpgroup_wait 0 %d : !D
  return %e : !D
}
