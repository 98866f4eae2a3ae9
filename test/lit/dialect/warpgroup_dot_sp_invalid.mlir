// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<1x128x32xf16, #tile.shared<"64B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
func.func @dense(%a: !A, %b: !B, %c: !D, %e: tensor<128x16xi4>, %i: index) {
  // expected-error @below {{takes a form of wgmma.sp; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor is one of wgmma}}
  %d = tile.warpgroup_dot_sp %a[%i, %i, %i], %b[%i, %i, %i], %c, %e {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D, tensor<128x16xi4>
  return
}

// -----

!A = memref<1x128x64xf16, #tile.shared<"128B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
func.func @depth(%a: !A, %b: !B, %c: !D, %e: tensor<128x16xi4>, %i: index) {
  // expected-error @below {{A has 128 columns, B 64 rows}}
  %d = tile.warpgroup_dot_sp %a[%i, %i, %i], %b[%i, %i, %i], %c, %e {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D, tensor<128x16xi4>
  return
}

// -----

!A = memref<1x128x32xf16, #tile.shared<"64B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
func.func @codes(%a: !A, %b: !B, %c: !D, %e: tensor<128x32xi4>, %i: index) {
  // expected-error @below {{operand e is 128x16, a code for each chunk of a row, not 128x32}}
  %d = tile.warpgroup_dot_sp %a[%i, %i, %i], %b[%i, %i, %i], %c, %e {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D, tensor<128x32xi4>
  return
}

// -----

!A = memref<1x128x32xf16, #tile.shared<"64B">>
!B = memref<2x64x64xf16, #tile.shared<"128B">>
!D = tensor<128x128xf32>
func.func @element(%a: !A, %b: !B, %c: !D, %e: tensor<128x16xi8>, %i: index) {
  // expected-error @below {{operand e of wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor has elements of type i4, not i8}}
  %d = tile.warpgroup_dot_sp %a[%i, %i, %i], %b[%i, %i, %i], %c, %e {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", imm_trans_b = 1, warps = array<i64: 8, 1>} : !A, !B, !D, tensor<128x16xi8>
  return
}
