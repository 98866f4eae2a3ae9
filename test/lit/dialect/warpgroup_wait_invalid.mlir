// RUN: tile-opt %s --split-input-file --verify-diagnostics

func.func @no_product(%c: tensor<128x128xf32>) {
  // expected-error @below {{waits for the result of a tile.warpgroup_start}}
  %e = tile.warpgroup_wait 0 %c : tensor<128x128xf32>
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
func.func @negative(%a: !A, %b: !B, %c: !D, %i: index) {
  %d = tile.warpgroup_start %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
  // expected-error @below {{pending must be 0 or more, not -1}}
  %e = tile.warpgroup_wait -1 %d : !D
  return
}
