// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<1x128x32xf16, #tile.shared<"64B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
func.func @depth(%a: !A, %b: !B, %c: !D, %i: index) {
  // expected-error @below {{A has 32 columns, B 64 rows}}
  %d = tile.warpgroup_start %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
  return
}
