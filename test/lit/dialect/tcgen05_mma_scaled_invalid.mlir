// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @byte(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %i: index, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the last index of sfa is a constant}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] scale %sfa[%c0, %c0, %i], %sfb[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SA, !SB
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @rows(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{takes rows 0 to 127 of 64}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] scale %sfb[%c0, %c0], %sfb[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SB, !SB
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @id(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %t: i1) {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  // expected-error @below {{sfb_id 5 is not legal for kind::mxf8f6f4; 0, 1, 2, 3 is}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] scale %sfa[%c0, %c0, %c0], %sfb[%c0, %c5] if %t {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SA, !SB
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>
!SX = memref<128x4xf8E4M3FN, #tile.tensor<"scale">>
func.func @element(%a: !A, %b: !B, %d: !D, %s: !SX, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{operand sfa of tcgen05.mma.cta_group::1.kind::mxf8f6f4.scale_vec::1X.ue8m0.m128n64k32.f32.e4m3.e4m3.a::descriptor has elements of type f8E8M0FNU or i8, not f8E4M3FN}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] scale %s[%c0, %c0], %s[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SX, !SX
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @space(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{operand sfa of tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor lies in #tile.tensor<"scale">, not memref<128x64xf32, #tile.tensor<"d">>}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] scale %d[%c0, %c0], %sfb[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !D, !SB
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!B = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!SA = memref<2x128x4xf8E8M0FNU, #tile.tensor<"scale">>
!SB = memref<64x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @plain(%a: !A, %b: !B, %d: !D, %sfa: !SA, %sfb: !SB, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{is the form of a tile.tcgen05_mma}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] scale %sfa[%c0, %c0, %c0], %sfb[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f8f6f4.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D scale !SA, !SB
  return
}
