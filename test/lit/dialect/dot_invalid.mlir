// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @unknown_form(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op unknown mma form 'wgmma'; nearest legal: mma.sync.aligned.}}
  %d = tile.dot %a, %b, %c {form = "wgmma"} : !A, !B, !C
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @four_products(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op takes a form that computes one product per warp; mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 has four}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C = !tile.frag<tensor<16x8xf32>, #tile.layout<"m16n8k16 c f32">>
func.func @fragment(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op operand c must be a tensor with a #tile.layout encoding, not !tile.frag<}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<4x8x4xf16, #tile.layout<"m8n8k4 a f16 row">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 b f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @rank(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op shapes do not match: A 4x8x4, B 16x8, C 16x8, D 16x8}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<8x8xf16, #tile.layout<"m16n8k8 b f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @shapes(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op shapes do not match: A 16x16, B 8x8, C 16x8, D 16x8; with A MxK, B is KxN, C and D are MxN}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xbf16, #tile.layout<"m16n8k16 b bf16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @element_type(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op operand b of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 has elements of type f16, not bf16}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x8xf16, #tile.layout<"m16n8k16 c f16">>
!C = tensor<16x8xf32, #tile.layout<"m16n8k16 c f32">>
func.func @layout(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{of operand b is not a repetition of the fragment 'register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 8' of mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

// The warps split the columns of C, but the rows of A.
!A = tensor<32x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!B = tensor<16x16xf16, #tile.layout<"register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,8] -> row 16, col 16">>
!C = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [16,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,8] -> row 32, col 16">>
func.func @rows_of_warps(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op the warps hold different rows of operand a than of C}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<32x16xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
!B = tensor<16x16xf16, #tile.layout<"register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [0,8] -> row 16, col 16">>
!C = tensor<32x16xf32, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [16,0] -> row 32, col 16">>
func.func @columns_of_warps(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op the warps hold different cols of operand b than of C}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

// Each warp holds half of K.
!A = tensor<16x32xf16, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,16] -> row 16, col 32">>
!B = tensor<32x8xf16, #tile.layout<"register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4]; warp [16,0] -> row 32, col 8">>
!C = tensor<16x8xf32, #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0]; warp [0,0] -> row 16, col 8">>
func.func @k_over_warps(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op a warp must hold all of K of operand a, in its registers}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"} : !A, !B, !C
  return
}

// -----

!A = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!B = tensor<16x16xf16, #tile.layout<"register [1,0] [8,0] [0,8]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 16">>
!C = tensor<16x16xf32, #tile.layout<"register [0,1] [8,0] [0,8]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
!D = tensor<16x16xf32, #tile.layout<"register [0,1] [8,0] [0,8] [0,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 16">>
func.func @result(%a: !A, %b: !B, %c: !C) {
  // expected-error @below {{'tile.dot' op C and D must have the same layout of instructions over warps}}
  %d = tile.dot %a, %b, %c {form = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"}
      : !A, !B, !C -> !D
  return
}

// -----

// What a flag says of the signs, the form must say as well.
func.func @signed_form(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) {
  // expected-error @below {{'tile.dot' op mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 takes s8 as a, whose integers are unsigned here; legal: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32, or omit the form to let tilec choose}}
  %d = tile.dot %a, %b, %c unsigned_a {form = "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"}
      : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32>
  return
}

// -----

// With one flag for both operands, the one without has a sign.
func.func @unsigned_form(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>) {
  // expected-error @below {{'tile.dot' op mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 takes u8 as b, whose integers are signed here; legal: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32, or omit the form to let tilec choose}}
  %d = tile.dot %a, %b, %c unsigned_a {form = "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32"}
      : tensor<16x32xi8>, tensor<32x8xi8>, tensor<16x8xi32>
  return
}

// -----

func.func @no_integers(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>) {
  // expected-error @below {{'tile.dot' op unsigned_b applies to integers; b has elements of f16}}
  %d = tile.dot %a, %b, %c unsigned_b : tensor<16x16xf16>, tensor<16x8xf16>, tensor<16x8xf32>
  return
}
