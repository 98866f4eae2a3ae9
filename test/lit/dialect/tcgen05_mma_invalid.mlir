// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @form(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{unknown tcgen05.mma form 'tcgen05.mma.cta_group::1.kind::f17.a::descriptor'; nearest legal: tcgen05.mma.cta_group::1.kind::f16.a::descriptor}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f17.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @scaled(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{is the form of a tile.tcgen05_mma_scaled}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!B = memref<32x64xf16, #tile.shared<"128B">>
!D = memref<128x20xf32, #tile.tensor<"d">>
func.func @n(%a: !A, %b: !B, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{N = 20 is not legal for kind::f16, cta_group::1; legal: 8, 16, 24}}
  tile.tcgen05_mma %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !B, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @types(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{kind::f16 has no f32 f16 bf16 of D, A, B; legal: f16 f16 f16, f32 f16 f16, f32 bf16 bf16}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.bf16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xbf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @element(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has elements of type f16, not bf16}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"64B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @swizzle(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{no descriptor of tcgen05.mma.cta_group::1.kind::f16.m128n128k16.f32.f16.f16.a::descriptor can describe this operand a}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<64x64xf16, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
func.func @rows(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has 128 rows, more than the 64 rows of the memref's matrices}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @column(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{operand a starts at column 4; columns start at multiples of 8}}
  tile.tcgen05_mma %a[%c0, %c4], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<256x128xf32, #tile.tensor<"d cta_group::2">>
func.func @pair(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{M = 256 is not legal for kind::f16, cta_group::1; legal: 64, 128}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"a">>
func.func @space(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{operand d of tcgen05.mma.cta_group::1.kind::f16.a::descriptor lies in #tile.tensor<"d">, not memref<128x128xf32, #tile.tensor<"a">>}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!P = memref<128x64xf16, #tile.tensor<"a">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @left(%a: !A, %p: !P, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  // expected-error @below {{is 128x16, from row 0 and a multiple of 16 columns on, of 128x64}}
  tile.tcgen05_mma %p[%c0, %c8], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::tensor", types = "f32.f16.f16"} : !P, !A, !D
  return
}

// -----

!A = memref<128x32xf32, #tile.shared<"128B">>
!D = memref<128x32xf32, #tile.tensor<"d">>
func.func @transposed(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{it is contiguous along N, and must be along K: only elements of 8 and 16 bits are transposed}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::tf32.a::descriptor", types = "f32.tf32.tf32", transpose_b} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @whole(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  // expected-error @below {{d is a whole matrix of its buffer: its row and column are 0}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c32] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @saturated(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{saturate}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", saturate} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @sparse(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor is the form of a tile.tcgen05_mma_sp}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

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

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<2x128x128xf32, #tile.tensor<"d">>
func.func @matrix(%a: !A, %d: !D) {
  %c0 = arith.constant 0 : index
  %last = arith.constant -1 : index
  %true = arith.constant true
  // expected-error @below {{'tile.tcgen05_mma' op takes matrix -1 of a buffer of 2}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%last, %c0, %c0] if %true {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !A, !D
  return
}

// -----

!A = memref<64x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d cta_group::2">>
!S = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @halves(%a: !A, %d: !D, %s: !S, %more: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{has 128 rows in #tile.tensor<"scale halves">, unlike the buffer}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] scale %s[%c0, %c0], %s[%c0, %c0] if %more {form = "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !A, !D scale !S, !S
  return
}

// -----

!A = memref<128x128xf8E4M3FN, #tile.shared<"128B">>
!D = memref<256x256xf32, #tile.tensor<"d cta_group::2">>
!S = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @all_columns(%a: !A, %d: !D, %s: !S, %more: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{takes rows 0 to 255 of 128}}
  tile.tcgen05_mma_scaled %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] scale %s[%c0, %c0], %s[%c0, %c0] if %more {form = "tcgen05.mma.cta_group::2.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !A, !D scale !S, !S
  return
}

// -----

!A = memref<64x32xf16, #tile.shared<"64B">>
!B = memref<64x64xf16, #tile.shared<"128B">>
!D = memref<64x64xf32, #tile.tensor<"d">>
!E = memref<128x4xi32, #tile.tensor<"e">>
func.func @rows(%a: !A, %b: !B, %d: !D, %e: !E, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the metadata of 64 rows of a CTA are published only as a picture; legal: M = 128, of a pair of CTAs 256}}
  tile.tcgen05_mma_sp %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] metadata %e[%c0, %c0] if %t {form = "tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !B, !D metadata !E
  return
}

// -----

!A = memref<128x32xf16, #tile.shared<"64B">>
!B = memref<64x64xf16, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!E = memref<128x4xi32, #tile.tensor<"e">>
func.func @column(%a: !A, %b: !B, %d: !D, %e: !E, %i: index, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{the last index of e is a constant}}
  tile.tcgen05_mma_sp %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] metadata %e[%c0, %i] if %t {form = "tcgen05.mma.sp.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16"} : !A, !B, !D metadata !E
  return
}

// -----

func.func @words() {
  // expected-error @below {{metadata are words of 32 bits in an even number of columns, in 128 rows, not 128x3 of 32 bits}}
  %e = tile.alloc_tensor : memref<128x3xi32, #tile.tensor<"e">>
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @lanes(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{keep_lanes of tcgen05.mma.cta_group::1.kind::f16.a::descriptor is array<i32: …> of 4 words, not array<i32: 1, 2>}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", keep_lanes = array<i32: 1, 2>} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d ws">>
func.func @lanes_of_ws(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{keep_lanes of tcgen05.mma.ws.cta_group::1.kind::f16.a::descriptor is none, not array<i32: 1, 2, 3, 4>}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.ws.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", keep_lanes = array<i32: 1, 2, 3, 4>} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @exponent(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{exponent is 0 to 15, not 16}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", exponent = 16} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xi8, #tile.shared<"64B">>
!D = memref<128x128xi32, #tile.tensor<"d">>
func.func @exponent_of_integers(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{exponent is of kind::f16 and kind::tf32 without .ws, not of tcgen05.mma.cta_group::1.kind::i8.a::descriptor}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::i8.a::descriptor", types = "s32.s8.s8", exponent = 1} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d">>
func.func @zeros(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{zero_columns is of products with .ws, not of tcgen05.mma.cta_group::1.kind::f16.a::descriptor}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", zero_columns = 1} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xf16, #tile.shared<"128B">>
!D = memref<128x128xf32, #tile.tensor<"d ws">>
func.func @zeros_of_nothing(%a: !A, %d: !D, %t: i1) {
  %c0 = arith.constant 0 : index
  // expected-error @below {{bits 0x1000000000 have no meaning}}
  tile.tcgen05_mma %a[%c0, %c0], %a[%c0, %c0], %d[%c0, %c0] if %t {form = "tcgen05.mma.ws.cta_group::1.kind::f16.a::descriptor", types = "f32.f16.f16", zero_columns = 68719476736} : !A, !A, !D
  return
}

// -----

!A = memref<128x64xi8, #tile.shared<"64B">>
!B = memref<64x128xi8, #tile.shared<"128B">>
!D = memref<128x64xf32, #tile.tensor<"d">>
!E = memref<128x4xi32, #tile.tensor<"e">>
!S = memref<128x4xf8E8M0FNU, #tile.tensor<"scale">>
func.func @sparse_scaled(%a: !A, %b: !B, %d: !D, %e: !E, %s: !S, %t: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @below {{takes 2 of 4 columns, from row 0 and an even column on, not from 1}}
  tile.tcgen05_mma_sp_scaled %a[%c0, %c0], %b[%c0, %c0], %d[%c0, %c0] metadata %e[%c0, %c1] scale %s[%c0, %c0], %s[%c0, %c0] if %t {form = "tcgen05.mma.sp.cta_group::1.kind::mxf8f6f4.block_scale.block32.a::descriptor", types = "f32.e4m3.e4m3"} : !A, !B, !D metadata !E scale !S, !S
  return
}
