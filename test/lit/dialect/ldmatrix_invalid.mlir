// RUN: tile-opt %s --split-input-file --verify-diagnostics

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @unknown_form(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op unknown ldmatrix form 'ldmatrix.sync.aligned.m8n8.x3.b16'; nearest legal: ldmatrix.sync.aligned.m8n8.x}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x3.b16"} : !S -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @family(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op takes a form of ldmatrix; stmatrix.sync.aligned.m8n8.x4.b16 is one of stmatrix}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "stmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
func.func @space(%m: memref<64x64xf16, 3>, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op memory must be in the space #tile.shared<"…">, not memref<64x64xf16, 3>}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"}
      : memref<64x64xf16, 3> -> !A
  return
}

// -----

!T = tensor<16x16xf16, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @tensor(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op the fragment must be a !tile.frag, not tensor<16x16xf16,}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !T
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @count(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op the fragment is 4 matrices; ldmatrix.sync.aligned.m8n8.x2.b16 moves 2}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x2.b16"} : !S -> !A
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @layout(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n8.x2.b16 does not move a fragment of f16 with the layout 'register [1,0] [8,0]; lane [2,0] [4,0] [0,1] [0,2] [0,4] -> row 16, col 8'}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x2.b16"} : !S -> !B
  return
}

// -----

!B = !tile.frag<tensor<16x8xf16>, #tile.layout<"m16n8k16 b f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @layout_of_the_transpose(%m: !S, %i: index) {
  // expected-error @below {{col 8' for a transposed tile}}
  %0 = tile.ldmatrix %m[%i, %i] transposed {form = "ldmatrix.sync.aligned.m8n8.x2.trans.b16"}
      : !S -> !B
  return
}

// -----

// Transposing moves 16 bits at a time: bytes would arrive in pairs.
!B = !tile.frag<tensor<32x8xi8>, #tile.layout<"m16n8k32 b s8">>
!S = memref<64x64xi8, #tile.shared<"64B">>
func.func @bytes_transposed(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n8.x2.trans.b16 does not move a fragment of i8 with the layout}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x2.trans.b16"} : !S -> !B
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xbf16, #tile.shared<"128B">>
func.func @element_type(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op element types differ: f16 in the tile, memref<64x64xbf16, #tile.shared<"128B">> in memory}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<2x64x64xf16, #tile.shared<"128B">>
func.func @indices(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op the access takes 3 indices, one per dimension, not 2}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<8x64xf16, #tile.shared<"128B">>
func.func @extents(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op the tile is larger than the buffer}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  return
}

// -----

!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"128B">>
func.func @masked(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op unknown attribute 'masked'; legal: form, transposed}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16", masked} : !S -> !A
  return
}

// -----

// A swizzle may move rows of 16 bytes, but not what is in them.
!A = !tile.frag<tensor<16x16xf16>, #tile.layout<"m16n8k16 a f16">>
!S = memref<64x64xf16, #tile.shared<"swizzle<2,2,3>">>
func.func @swizzle(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n8.x4.b16 takes rows of 16 bytes whole, unlike memref<64x64xf16, #tile.shared<"swizzle<2,2,3>">>}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n8.x4.b16"} : !S -> !A
  return
}
