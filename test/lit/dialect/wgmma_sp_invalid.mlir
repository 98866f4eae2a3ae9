// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k32 d f32 sparse">>
!E = !tile.frag<tensor<64x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] [32,0] -> row 64, col 16">>
func.func @family(%a: !A, %b: !B, %c: !D, %t: i1, %e: !E, %i: index) {
  // expected-error @below {{takes a form of wgmma.sp; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor is one of wgmma}}
  %d = tile.wgmma_sp %a[%i, %i], %b[%i, %i], %c, %e if %t {form = "wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16.a::descriptor", selector = 0} : !A, !B, !D, !E
  return
}

// -----

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k32 d f32 sparse">>
!E = !tile.frag<tensor<64x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] [32,0] -> row 64, col 16">>
func.func @selector(%a: !A, %b: !B, %c: !D, %t: i1, %e: !E, %i: index) {
  // expected-error @below {{selector of wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor is 0, 1, not 2}}
  %d = tile.wgmma_sp %a[%i, %i], %b[%i, %i], %c, %e if %t {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", selector = 2} : !A, !B, !D, !E
  return
}

// -----

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k32 d f32 sparse">>
!E = !tile.frag<tensor<64x16xf16>, #tile.layout<"m64n128k16 a f16">>
func.func @metadata(%a: !A, %b: !B, %c: !D, %t: i1, %e: !E, %i: index) {
  // expected-error @below {{operand e of wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor is a fragment of tensor<64x16xi4>, not}}
  %d = tile.wgmma_sp %a[%i, %i], %b[%i, %i], %c, %e if %t {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor", selector = 0} : !A, !B, !D, !E
  return
}

// -----

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<128x64xf16, #tile.shared<"128B">>
!D = !tile.frag<tensor<64x128xf32>, #tile.layout<"m64n128k32 d f32 sparse">>
!E = !tile.frag<tensor<64x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0]; warp [16,0] [32,0] -> row 64, col 16">>
func.func @missing_selector(%a: !A, %b: !B, %c: !D, %t: i1, %e: !E, %i: index) {
  // expected-error @below {{selector}}
  %d = tile.wgmma_sp %a[%i, %i], %b[%i, %i], %c, %e if %t {form = "wgmma.mma_async.sp.sync.aligned.m64n128k32.f32.f16.f16.a::descriptor"} : !A, !B, !D, !E
  return
}
