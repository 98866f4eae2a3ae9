// RUN: tile-opt %s --split-input-file --verify-diagnostics

#ROW = #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">
!S = memref<32x32xi8, #tile.shared<"none">>
func.func @six_bits_for_four(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32 gives i8 or !tile.byte<f6E3M2FN> or !tile.byte<f6E2M3FN>, not !tile.byte<f4E2M1FN>}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b6x16_p32"}
      : !S -> !tile.frag<tensor<8x16x!tile.byte<f4E2M1FN>>, #ROW>
  return
}

// -----

#ROW = #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">
!S = memref<32x32xi8, #tile.shared<"none">>
func.func @four_bits_for_eight(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64 gives i8 or !tile.byte<f4E2M1FN>, not f8E4M3FN}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n16.x1.b8x16.b4x16_p64"}
      : !S -> !tile.frag<tensor<8x16xf8E4M3FN>, #ROW>
  return
}

// -----

#ROW = #tile.layout<"register [0,1] [0,2]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 8, col 16">
!S = memref<32x32xi8, #tile.shared<"none">>
func.func @integers(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m8n16.x1.s8.s4 gives i8, not !tile.byte<f4E2M1FN>}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m8n16.x1.s8.s4"}
      : !S -> !tile.frag<tensor<8x16x!tile.byte<f4E2M1FN>>, #ROW>
  return
}

// -----

// The transposing shape wants the layout of the transpose.
#ROW = #tile.layout<"register [0,1] [0,2] [8,0]; lane [0,4] [0,8] [1,0] [2,0] [4,0] -> row 16, col 16">
!S = memref<32x32xi8, #tile.shared<"none">>
func.func @not_transposed(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m16n16.x1.trans.b8 does not move a fragment of i8 with the layout}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"}
      : !S -> !tile.frag<tensor<16x16xi8>, #ROW>
  return
}

// -----

#COL = #tile.layout<"register [1,0] [2,0] [0,8]; lane [4,0] [8,0] [0,1] [0,2] [0,4] -> row 16, col 16">
!S = memref<32x32xi8, #tile.shared<"none">>
func.func @count(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op the fragment is 1 matrix; ldmatrix.sync.aligned.m16n16.x2.trans.b8 moves 2}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m16n16.x2.trans.b8"}
      : !S -> !tile.frag<tensor<16x16xi8>, #COL>
  return
}

// -----

// Halves do not fit an instruction that moves bytes apart.
#COL = #tile.layout<"register [1,0] [2,0] [0,8]; lane [4,0] [8,0] [0,1] [0,2] [0,4] -> row 16, col 16">
!S = memref<32x32xf16, #tile.shared<"none">>
func.func @halves(%m: !S, %i: index) {
  // expected-error @below {{'tile.ldmatrix' op ldmatrix.sync.aligned.m16n16.x1.trans.b8 does not move a fragment of f16}}
  %0 = tile.ldmatrix %m[%i, %i] {form = "ldmatrix.sync.aligned.m16n16.x1.trans.b8"}
      : !S -> !tile.frag<tensor<16x16xf16>, #COL>
  return
}

// -----

// stmatrix of bytes transposes, too.
#D = #tile.layout<"register [0,1] [8,0]; lane [0,2] [0,4] [1,0] [2,0] [4,0] -> row 16, col 8">
!S = memref<32x32xi8, #tile.shared<"none">>
func.func @stmatrix(%d: !tile.frag<tensor<16x8xi8>, #D>, %m: !S, %i: index) {
  // expected-error @below {{'tile.stmatrix' op stmatrix.sync.aligned.m16n8.x1.trans.b8 does not move a fragment of i8 with the layout}}
  tile.stmatrix %d, %m[%i, %i] {form = "stmatrix.sync.aligned.m16n8.x1.trans.b8"}
      : !tile.frag<tensor<16x8xi8>, #D>, !S
  return
}
