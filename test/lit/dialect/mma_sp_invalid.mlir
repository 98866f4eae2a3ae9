// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @family(%a: !A, %b: !B, %c: !C, %e: !E) {
  // expected-error @below {{'tile.mma_sp' op takes a form of mma.sp; mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 is one of mma}}
  %d = tile.mma_sp %a, %b, %c, %e
      {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !E
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @unknown_form(%a: !A, %b: !B, %c: !C, %e: !E) {
  // expected-error @below {{'tile.mma_sp' op unknown mma.sp form 'mma.sp.m16n8k32'; nearest legal: mma.sp}}
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp.m16n8k32", selector = 0} : !A, !B, !C, !E
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @selector(%a: !A, %b: !B, %c: !C, %e: !E) {
  // expected-error @below {{'tile.mma_sp' op selector of mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 is 0, 1, not 2}}
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 2} : !A, !B, !C, !E
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @no_selector(%a: !A, %b: !B, %c: !C, %e: !E) {
  // expected-error @below {{'tile.mma_sp' op attribute "selector" is expected but not provided}}
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32"} : !A, !B, !C, !E
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!W = !tile.frag<tensor<16x8xi8>, #tile.layout<"m16n8k16 c f32">>
func.func @metadata_type(%a: !A, %b: !B, %c: !C, %w: !W) {
  // expected-error @below {{'tile.mma_sp' op operand e of mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 is a fragment of tensor<16x16xi4>, not}}
  %d = tile.mma_sp %a, %b, %c, %w {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !W
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!W = !tile.frag<tensor<16x16xi4>, #tile.layout<"m16n8k16 a f16">>
func.func @metadata_layout(%a: !A, %b: !B, %c: !C, %w: !W) {
  // expected-error @below {{'tile.mma_sp' op operand e of mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 has the layout 'register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16', not}}
  %d = tile.mma_sp %a, %b, %c, %w {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !W
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
!D = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k8 a f16">>
func.func @dense_a(%a: !D, %b: !B, %c: !C, %e: !E) {
  // expected-error @below {{'tile.mma_sp' op operand a of mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 is a fragment of tensor<16x16xf16>, not !tile.frag<tensor<16x8xf16>}}
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !D, !B, !C, !E
  return
}

// -----

// Of four elements two are kept, their numbers rising: 0b1010 says element 2 twice.
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k32 a f16 sparse">>
!B = !tile.frag<tensor<32x8xf16>, #tile.layout<"m16n8k32 b f16 sparse">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
!E = !tile.frag<tensor<16x16xi4>, #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @code(%a: !A, %b: !B, %c: !C) {
  %code = arith.constant -6 : i4
  %e = tile.fill %code : i4 -> !E
  // expected-error @below {{'tile.mma_sp' op metadata 0b1010 is not a code of mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32; legal: 0b0100, 0b1000, 0b1100, 0b1001, 0b1101, 0b1110}}
  %d = tile.mma_sp %a, %b, %c, %e {form = "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", selector = 0} : !A, !B, !C, !E
  return
}
