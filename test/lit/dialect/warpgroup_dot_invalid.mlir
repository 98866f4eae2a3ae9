// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @grid(%a: !A, %b: !B, %c: tensor<128x128xf32>, %i: index) {
  // expected-error @below {{warps must be array<i64: M, N>, powers of two, M a multiple of 4, not array<i64: 2, 4>}}
  %d = tile.warpgroup_dot %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 2, 4>} : !A, !B, tensor<128x128xf32>
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @rows(%a: !A, %b: !B, %c: tensor<256x128xf32>, %i: index) {
  // expected-error @below {{operand a has 128 rows in memory, and C has 256}}
  %d = tile.warpgroup_dot %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, tensor<256x128xf32>
  return
}

// -----

!A = memref<1x128x32xf16, #tile.shared<"64B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @depth(%a: !A, %b: !B, %c: tensor<128x128xf32>, %i: index) {
  // expected-error @below {{A has 32 columns, B 64 rows}}
  %d = tile.warpgroup_dot %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, tensor<128x128xf32>
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,16] [0,32] [64,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] [32,0] [0,64] -> row 128, col 128">>
func.func @layout(%a: !A, %b: !B, %c: !D, %i: index) {
  // expected-error @below {{operand c of wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor over 8x1 warps has the layout}}
  %d = tile.warpgroup_dot %a[%i, %i, %i], %b[%i, %i, %i], %c {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @indices(%a: !A, %b: !B, %c: tensor<128x128xf32>, %i: index) {
  // expected-error @below {{a and b takes 6 indices}}
  %d = "tile.warpgroup_dot"(%a, %b, %c, %i, %i) {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1 : i64, warps = array<i64: 8, 1>} : (!A, !B, tensor<128x128xf32>, index, index) -> tensor<128x128xf32>
  return
}
